"""Several processes of one platform that talk to each other, and what is computed over them.

``platform.py`` makes a platform of them, which runs operations that are spread over ranks; its worker is the one that
starts the ranks and waits for them (``world.py``), and computes nothing. A rank (``rank.py``) runs its part in guarded
memory, as any kernel, and talks to the others through ``group.py``, the one door to torch.distributed.
"""
