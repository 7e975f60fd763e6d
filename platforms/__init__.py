"""Where kernels run: what a platform is, which ones this machine has, and processes of their own to run kernels in.

    from platforms.detect import detect
    from platforms.pool import Pool
    from platforms.gather import probe

    found = detect(probe()).found
    with Pool() as pool:
        outcome = pool.run(found[0], "relu/torch/eager", case)

Importing this package, or any module of it that the calling process needs, imports no torch and touches no device.
"""
