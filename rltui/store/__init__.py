"""What has been read, held in bounded memory: exact recent points, bucketed history, attempts."""

from rltui.store.model import Attempt, Columns, NewPoints, Points
from rltui.store.run import Run
from rltui.store.series import Series
from rltui.store.store import Store

__all__ = ["Attempt", "Columns", "NewPoints", "Points", "Run", "Series", "Store"]
