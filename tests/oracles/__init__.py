"""Whole jobs by slow programs of a page: what the product has to answer, without any index, filter or bound."""
