"""The door for voice and chat agents."""
