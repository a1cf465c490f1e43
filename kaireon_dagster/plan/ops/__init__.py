"""The operations of a transform node, one function each."""
