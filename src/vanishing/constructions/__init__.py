"""From moments to generators: OAVI, ABM, AVI, VCA and the exact algorithm."""
