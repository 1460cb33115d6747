"""The developer commands; each executable here says at its top what it does."""
