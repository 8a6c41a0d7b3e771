"""Features, strategies, constraints, variants, segments, dependencies, evaluation."""
