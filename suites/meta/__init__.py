"""Tests of Portolan itself."""
