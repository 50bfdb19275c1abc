"""What the tests share: model files made by hand, paths to data, oracles."""
