"""Programs around the product: a browser, a server under test, photographs."""
