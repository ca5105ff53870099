"""What the Python suites share: private servers, the three programs, clients, money by hand."""
