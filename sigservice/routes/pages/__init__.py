"""The HTML pages, one package for each topic."""
