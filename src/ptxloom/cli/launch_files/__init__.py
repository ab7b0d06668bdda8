"""Launch files (TOML) and the arrays that they describe."""
