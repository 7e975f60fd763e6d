"""The contracts that every implementation is held to beside giving the right values; docs/contracts.md lists them."""
