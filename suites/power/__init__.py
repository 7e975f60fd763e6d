"""What the suite is worth: how soon it notices each wrong kernel, whether it blames right ones, and what others do."""
