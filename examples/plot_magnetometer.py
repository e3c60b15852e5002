"""
A compass beside a motor
========================

A magnetometer is turned in all directions. The motor next to it adds a field of its own (hard iron)
and bends that of the earth (soft iron), so that readings are on an ellipsoid away from the origin.
Twenty readings were taken while the motor was switched on. What is the calibration, and how large
are its errors?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import EllipsoidCalibration
from vanishing.plot import CalibrationDisplay

rng = np.random.default_rng(0)
direction = rng.normal(size=(400, 3))
direction /= np.linalg.norm(direction, axis=1)[:, np.newaxis]
hard = np.array([22.0, -31.0, 8.0])
soft = np.array([[1.15, 0.08, 0.0], [0.08, 0.9, -0.05], [0.0, -0.05, 1.0]])
readings = hard + 48 * direction @ soft + 0.4 * rng.normal(size=(400, 3))
readings[::20] += rng.normal(scale=30, size=(20, 3))
readings = pd.DataFrame(readings, columns=["mx", "my", "mz"])

# %%
# Wrong readings are found and left out. The centre is the hard iron.

calibration = EllipsoidCalibration().fit(readings)
print(calibration.verdict_)
for axis, value, error, true in zip(
    readings, calibration.center_, calibration.center_std_, hard, strict=True
):
    print(f"{axis}: {value:7.2f} +- {error:.2f}   (true: {true:g})")

# %%
# Calibrated readings are on a sphere about the origin, except for the wrong ones.

CalibrationDisplay.from_estimator(calibration, readings)
plt.show()

# %%
# If a sensor was only turned about one axis, its readings do not determine the calibration of that
# axis. The verdict says so, and does not invent a number.

flat = EllipsoidCalibration()
flat_readings = readings[np.abs(direction[:, 2]) < 0.04]
print(flat.fit(flat_readings).verdict_)
