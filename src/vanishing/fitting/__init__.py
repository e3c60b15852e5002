"""Statistics that questions share: choice of terms, least squares, samples, noise, surrogates."""
