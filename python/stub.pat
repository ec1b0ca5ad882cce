# SPDX-License-Identifier: Apache-2.0
# What the stub generator leaves out of _mpm.pyi.
_mpm.__prefix__:
    __version__: str

    class Error(RuntimeError): ...

    class ArgumentError(Error, ValueError): ...

    class FileError(Error, FileNotFoundError): ...
