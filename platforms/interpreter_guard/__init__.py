"""What the guarded Triton interpreter is made of, one idea a file; its door is :mod:`platforms.guarded_interpreter`.

========================  ==========================================================================
``errors.py``             what the guard raises, and how a caller recognises it
``narrow.py``             bfloat16, the float8 formats and tf32 as bit patterns, in NumPy alone
``arithmetic.py``         Triton's operations on those formats
``language.py``           names and numbers that some versions of the interpreter forget
``spans.py``              the memory that a launch may touch: its tensor arguments
``conflicts.py``          who touched what, and which programs do so in no defined order
``order.py``              in which order the programs of a launch run
``settings.py``           what is asked of it
``launch.py``             one launch: every access goes to the spans and to the conflicts
``standin.py``            what generators of Triton code ask of a device before they generate any
``patches.py``            how functions of Triton are replaced, and which could not be
========================  ==========================================================================

``arithmetic.py``, ``language.py``, ``launch.py`` and ``standin.py`` import Triton, and they are imported by
:func:`platforms.guarded_interpreter.install` alone.
"""
