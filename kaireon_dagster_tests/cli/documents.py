"""Small documents for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

ORDERS = """
kind: pipeline
version: "1.0"
id: orders
metadata: {name: Orders}
nodes:
  - id: files
    kind: source
    connector: local_fs
    config:
      path: FOLDER
      pattern: {type: glob, value: "orders*.csv"}
      format: csv
  - id: typed
    kind: transform
    input: files
    ops:
      - {type: cast, field: amount, to: "numeric(12,2)"}
      - {type: rename, from: id, to: order_id}
  - id: checked
    kind: validate
    input: typed
    rowLevel:
      - {id: positive, field: amount, rule: "gt:0", onFail: quarantine}
    quarantine: {table: dlq.orders}
  - id: table
    kind: target
    input: checked
    schema: shop.orders
    loadMode: upsert
    upsertKey: order_id
errorHandling:
  dlq: {enabled: true, destination: dlq.orders}
"""
ROWS = "id,customer,amount\n1,Ada,12.50\n2,Bob,-1\n3,Cléo,x\n4,Dan\n5,Eve,7\n"


def write_orders(folder: Path, rows: str = ROWS) -> Path:
    """Write the document and its one file; give the document's path."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    (data / "orders-1.csv").write_text(rows, encoding="utf-8")
    document = folder / "orders.yaml"
    document.write_text(ORDERS.replace("FOLDER", "data"), encoding="utf-8")
    return document
