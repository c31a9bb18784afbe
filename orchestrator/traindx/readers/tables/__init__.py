"""Tables: metrics in CSV, JSON and Parquet, and the samples a run was fed with."""
