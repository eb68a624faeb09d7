"""One module per command, in folders by what the commands are for."""
