"""The admin API and the JSON API of users, one package for each topic."""
