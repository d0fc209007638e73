"""What an open page of the console costs, and its picture for the docs."""
