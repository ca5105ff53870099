# Sample configuration and prices.
