"""Flow pipelines as Dagster assets on PostgreSQL."""
