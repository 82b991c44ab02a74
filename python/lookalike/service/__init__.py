"""The service: indexes and comparisons over HTTP (`lookalike serve`).

``supervisor.py`` starts one keeper (``keeper.py``), the only process that writes, and several readers
(``reader.py``), which answer questions. They speak over ``channel.py``. ``door.py`` stands before every request,
``application.py`` lists the operations, ``api/`` has their handlers, ``comparing/`` the jobs of comparisons.
"""
