# SPDX-License-Identifier: BSD-3-Clause
"""Calls in the order of streams, without a GPU: by the fake driver, whose device memory is the host's, and stand-ins for torch's
CUDA tensors. tests/pes runs the real ones where there is a GPU."""
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import railshmem

PACKAGE = pathlib.Path(railshmem.__file__).parent
FAKE_CUDA = PACKAGE.parent.parent / "tests/gpu/fake_driver/driver/fake_cuda"
if not (FAKE_CUDA / "libcuda.so.1").exists():
    pytest.skip(f"no fake driver at {FAKE_CUDA}", allow_module_level=True)

PRELUDE = """
import ctypes, struct, sys
import railshmem
from railshmem import _core

class Device:
    def __init__(self, index):
        self.index = index

class Tensor:
    '''What the module reads of a CUDA tensor of torch.'''
    is_cpu, is_cuda = False, True
    device = Device(0)

    def __init__(self, dtype, address, n, contiguous=True):
        self.dtype, self.address, self.n, self.contiguous = dtype, address, n, contiguous
        self.letter, self.size = {"f32": ("f", 4), "i64": ("q", 8), "u8": ("B", 1)}[dtype]
    def is_contiguous(self):
        return self.contiguous
    def numel(self):
        return self.n
    def data_ptr(self):
        return self.address
    def __getitem__(self, k):
        return Tensor(self.dtype, self.address + k.start * self.size, k.stop - k.start)
    def fill(self, *values):
        here = ctypes.create_string_buffer(struct.pack(f"{self.n}{self.letter}", *values))
        copy(self.address, ctypes.addressof(here), self.n * self.size)
        return self
    def tolist(self):
        assert cuda.cuCtxSynchronize() == 0
        here = ctypes.create_string_buffer(self.n * self.size + 1)
        copy(ctypes.addressof(here), self.address, self.n * self.size)
        return list(struct.unpack_from(f"{self.n}{self.letter}", here))

def copy(to, source, nbytes):
    word = ctypes.c_uint64
    assert nbytes == 0 or cuda.cuMemcpy(word(to), word(source), ctypes.c_size_t(nbytes)) == 0

ELEMENTS = {"f32": ("float", 4), "i64": ("int", 8), "u8": ("uint", 1)}
_core.know_torch(Tensor, ELEMENTS, lambda device: 0)
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
context = ctypes.c_void_p()
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
railshmem.init()
me, npes = railshmem.my_pe(), railshmem.n_pes()
assert _core.take_gpu("railshmem.torch.empty", 0) == 0

def zeros(n, dtype="f32"):
    nbytes = n * ELEMENTS[dtype][1]
    t = Tensor(dtype, _core.allocate_on_device("railshmem.torch.empty", nbytes, f"{dtype}[{n}]"), n).fill(*[0] * n)
    railshmem.barrier_all()
    return t

def own(n, dtype="f32"):
    address = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(n * ELEMENTS[dtype][1])) == 0
    return Tensor(dtype, address.value, n).fill(*[0] * n)

def free(*tensors):
    for t in tensors:
        _core.free("railshmem.torch.free", t)
"""


def job(tmp_path, program, npes=2):
    file = tmp_path / "program.py"
    file.write_text(PRELUDE + textwrap.dedent(program) + "\nrailshmem.finalize()\nprint('fine')\n")
    fake = {"RAILSHMEM_FAKE_GPUS": "2", "RAILSHMEM_FAKE_OPEN": "1", "SHMEM_HEAP_KIND": "device", "SHMEM_DEVICE_HEAP_MAX": "128M", "SHMEM_SYMMETRIC_SIZE": "64M",
            "SHMEM_WAIT_TIMEOUT": "40", "LD_LIBRARY_PATH": str(FAKE_CUDA)}
    done = subprocess.run([str(PACKAGE / "bin/oshrun"), "-n", str(npes), sys.executable, file], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, env={**os.environ, **fake})
    if "built without nvcc" in done.stdout:
        pytest.skip("the library was built without kernels")
    assert done.returncode == 0 and done.stdout.count("fine") == npes, done.stdout
    return done.stdout


def test_puts_gets_and_signals(tmp_path):
    job(tmp_path, """
        t, signals, here, right = zeros(4), zeros(2, "i64"), own(4), (me + 1) % npes
        _core.put("railshmem.torch.put", t, own(4).fill(*[me + 1.0] * 4), right)
        _core.barrier_on_stream("railshmem.torch.barrier", None, 0)
        assert t.tolist() == [(me - 1) % npes + 1.0] * 4
        _core.get("railshmem.torch.get", here, t, right)
        assert here.tolist() == [me + 1.0] * 4
        railshmem.barrier_all()
        _core.put_signal("railshmem.torch.put_signal", t, own(4).fill(*[7.0 + me] * 4), signals[1:2], 3, right, "set")
        assert _core.wait_signal("railshmem.torch.wait_signal", signals[1:2], ">=", 3) is None
        assert t.tolist() == [7.0 + (me - 1) % npes] * 4
        _core.signal_op("railshmem.torch.signal_op", signals[0:1], 5, right, "add")
        _core.wait_signal("railshmem.torch.wait_signal", signals[0:1], "==", 5)
        _core.quiet_on_stream("railshmem.torch.quiet", 0)
        assert signals.tolist() == [5, 3]
        free(t, signals)
        """)


def test_collectives_of_any_memory(tmp_path):
    job(tmp_path, """
        def coll(name, output, input, **rest):
            _core.coll_on_stream(name, output, input, **rest)
        for make in (zeros, own):
            long, part = make(npes << 18), make(1 << 18).fill(*[me + 1.0] * (1 << 18))
            coll("all_gather", long, part, spare_sms=True)
            for pe in range(npes):
                assert long[pe << 18:(pe << 18) + 3].tolist() == [pe + 1.0] * 3, pe
            coll("reduce_scatter", part, long, op="sum", spare_sms=True)
            assert part[0:3].tolist() == [npes * (me + 1.0)] * 3
            a, b, w, r = make(npes * 2), make(2), make(npes * 2), make(2)
            b.fill(me, 10.0 + me)
            coll("all_gather", a, b)
            assert a.tolist() == [x for pe in range(npes) for x in (pe, 10.0 + pe)], a.tolist()
            w.fill(*[me + 1.0] * (2 * npes))
            coll("reduce_scatter", r, w, op="avg")
            assert r.tolist() == [(npes + 1) / 2] * 2
            coll("all_reduce", w, w, op="premul", factor=0.5)
            assert w.tolist() == [npes * (npes + 1) / 4] * (2 * npes)
            _core.broadcast_on_stream(b, root=npes - 1)
            assert b.tolist() == [npes - 1, 9.0 + npes]
            lists = [make(2) for _ in range(npes)]
            coll("all_gather", lists, b.fill(me, me))
            assert [t.tolist() for t in lists] == [[pe, pe] for pe in range(npes)]
            coll("all_to_all", w, [t.fill(me, k) for k, t in enumerate(lists)])
            assert w.tolist() == [x for pe in range(npes) for x in (pe, me)]
            sent, got = [me + pe for pe in range(npes)], [pe + me for pe in range(npes)]
            source, dest = make(sum(sent) or 1, "i64"), make(sum(got) or 1, "i64")
            source.n, dest.n = sum(sent), sum(got)
            source.fill(*[100 * me + pe for pe in range(npes) for _ in range(sent[pe])])
            _core.all_to_all_v_on_stream(dest, source, input_counts=sent, output_counts=got)
            assert dest.tolist() == [100 * pe + me for pe in range(npes) for _ in range(got[pe])], dest.tolist()
        """)


#: A table of torch's C functions, by which the module sees Plain tensors, and not by their attributes.
EXCHANGE = """
class Seen(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]

CODES = {"f32": (2, 32), "i64": (0, 64), "u8": (1, 8)}

class Plain:
    def __init__(self, tensor, shape, strides, device_type=2, lanes=1):
        self.tensor, self.device_type, self.lanes = tensor, device_type, lanes
        self.shape, self.strides = [(ctypes.c_int64 * len(numbers))(*numbers) for numbers in (shape, strides)]
    @property
    def dtype(self):
        raise AttributeError("the attribute dtype was read")
    is_cuda = dtype

class Late(Plain):
    '''A class of its own: attributes alone say what it is.'''
    dtype, is_cpu, is_cuda, device = "f32", False, True, Device(0)
    def is_contiguous(self):
        return True
    def numel(self):
        return 4
    def data_ptr(self):
        return self.tensor.address

@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Seen))
def see(object, seen):
    assert type(object) is Plain, object
    to = seen.contents
    to.data, to.device_type, to.device, to.ndim = object.tensor.address, object.device_type, 0, len(object.shape)
    (to.code, to.bits), to.lanes, to.byte_offset = CODES[object.tensor.dtype], object.lanes, 0
    to.shape, to.strides = (ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int64)) for numbers in (object.shape, object.strides))
    return 0

asked = []
@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def stream_of(device_type, device, stream):
    asked.append((device_type, device))
    stream[0] = None
    return 0

tables = []
def capsule(major):
    see_it, tell_stream = (ctypes.cast(function, ctypes.c_void_p).value for function in (see, stream_of))
    tables.append((ctypes.c_uint64 * 7)(major | 3 << 32, 0, 0, 0, 0, see_it, tell_stream))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(tables[-1]), b"dlpack_exchange_api", None)

def refused(kind, text, *arguments):
    try:
        _core.put("railshmem.torch.put", *arguments)
    except kind as error:
        assert text in str(error), error
    else:
        sys.exit("no exception: " + text)
"""


def test_tensors_are_seen_by_the_functions_that_torch_has(tmp_path):
    job(tmp_path, EXCHANGE + """
t, here, right = zeros(4), own(4), (me + 1) % npes
_core.know_torch(Plain, ELEMENTS, lambda device: sys.exit("Python was asked for the stream"), capsule(1))
flat = Plain(here, (4,), (1,))
here.fill(*[me + 1.0] * 4)
_core.put("railshmem.torch.put", Plain(t, (1, 2, 2), (77, 2, 1)), flat, right)
_core.barrier_on_stream("railshmem.torch.barrier", None, 0)
assert t.tolist() == [(me - 1) % npes + 1.0] * 4
def all_reduce(output, input):
    return _core.coll_on_stream("all_reduce", output, input, op="sum")
assert all_reduce(Plain(t, (4,), (1,)), Plain(here, (2, 2), (2, 1)))
assert t.tolist() == [npes * (npes + 1) / 2] * 4
assert asked == [(2, 0)] * 2, asked
assert not all_reduce(None, Plain(t, (4,), (1,), device_type=1)) and not all_reduce(None, []) and not all_reduce(None, 3)
refused(ValueError, "dest is not contiguous", Plain(t, (2, 2), (1, 2)), flat, right)
refused(ValueError, "dest has 3 elements, and source has 4", Plain(t, (3,), (1,)), flat, right)
refused(ValueError, "dest is not symmetric", flat, flat, right)
refused(AttributeError, "dtype was read", Plain(t, (4,), (1,), lanes=2), flat, right)
refused(AttributeError, "dtype was read", Plain(t, (4,), (1,), device_type=7), flat, right)
railshmem.barrier_all()
_core.put("railshmem.torch.put", Late(t, (), ()), Late(here, (), ()), me)
assert t.tolist() == [me + 1.0] * 4
for other in (capsule(2), object(), 5, None):
    _core.know_torch(Plain, ELEMENTS, lambda device: 0, other)
    refused(AttributeError, "dtype was read", flat, flat, right)
_core.know_torch(Tensor, ELEMENTS, lambda device: 0)
railshmem.barrier_all()
free(t)
""")


def test_mistakes_raise(tmp_path):
    job(tmp_path, """
        t, ordinary = zeros(8), own(8)
        def coll(output, input, name="all_reduce", **rest):
            _core.coll_on_stream(name, output, input, **rest)
        def deal(counts):
            _core.all_to_all_v_on_stream(t, t, input_counts=counts, output_counts=[4, 4])
        for call, kind, text in (
                (lambda: _core.put("railshmem.torch.put", ordinary, t, 0), ValueError, "or in a mem_pool()"),
                (lambda: coll(t, Tensor("f32", t.address, 8, contiguous=False), op="sum"), ValueError, "not contiguous"),
                (lambda: coll(t, t[0:4], op="sum"), ValueError, "must have"),
                (lambda: coll(t, own(8, "i64"), op="sum"), TypeError, "convert one of them with to()"),
                (lambda: coll(t, t), ValueError, "op is None; accepted: sum, prod"),
                (lambda: coll(t, t, op="xor"), TypeError, "float32, which the operation xor does not take"),
                (lambda: coll(t, t, op="premul"), ValueError, "op is 'premul' and factor is None"),
                (lambda: coll(t, t, op="sum", factor=2.0), ValueError, "op is 'sum' and factor is 2.0"),
                (lambda: coll([t], t[0:4], "all_gather"), ValueError, "a list of 1 tensors, and the team has 2 PEs"),
                (lambda: coll([t, t[0:3]], t, "all_gather"), ValueError, "they must have one size"),
                (lambda: _core.broadcast_on_stream(t, root=2), ValueError, "members 0 to 1"),
                (lambda: coll(t[0:7], t[0:7], "all_to_all"), ValueError, "no multiple"),
                (lambda: deal([8]), ValueError, "1 split sizes"),
                (lambda: deal([4, 5]), ValueError, "of 9 elements"),
                (lambda: _core.wait_until("railshmem.numpy.wait_until", zeros(1, "i64"), "==", 0), TypeError, "CPU tensors only")):
            try:
                call()
            except kind as error:
                assert text in str(error), (text, error)
            else:
                sys.exit("no exception: " + text)
        railshmem.barrier_all()
        """)


def test_a_pool_hands_out_pieces_at_equal_places(tmp_path):
    said = job(tmp_path, """
        module = ctypes.CDLL(_core.__file__)
        number, _ = _core.make_pool("railshmem.torch.mem_pool", 1 << 20, "mem_pool(1048576) of here")
        take, give_back = getattr(module, f"railshmem_pool_take_{number}"), module.railshmem_pool_give_back
        take.restype, take.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
        give_back.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
        def place(address, n=1):
            return _core.place_of("railshmem.torch.check_symmetric", Tensor("u8", address, n))[0]
        a, b, c = take(1000, 0, None), take(512, 0, None), take(1 << 19, 0, None)
        assert [place(x) for x in (a, b, c)] == [0, 1024, 1536], [place(x) for x in (a, b, c)]
        assert take(1 << 19, 0, None) is None  # no hole is so large
        give_back(a, 1000, 0, None)
        give_back(b, 512, 0, None)  # joins the hole of a
        d = take(1500, 0, None)
        assert place(d) == 0
        give_back(c, 1 << 19, 0, None)
        give_back(d, 1500, 0, None)
        whole = take(1 << 20, 0, None)
        assert place(whole) == 0 and take(1, 0, None) is None
        t = Tensor("f32", whole, 4).fill(me, me, me, me)
        _core.coll_on_stream("all_reduce", t, t, op="sum")
        assert t.tolist() == [sum(range(npes))] * 4
        try:
            _core.free("railshmem.torch.free", t)
        except ValueError as error:
            assert "whose memory torch takes back by itself" in str(error), error
        words = _core.exchange_words("railshmem.torch.check_symmetric", [me, 7] * npes, None)
        assert words == [word for pe in range(npes) for word in (pe, 7)], words
        import atexit
        def after_finalize():
            assert take(1, 0, None) is None
            give_back(whole, 1 << 20, 0, None)
            print("gone")
        atexit.register(after_finalize)
        """)
    assert said.count("gone") == 2, said


def test_memory_is_registered(tmp_path):
    job(tmp_path, """
        t, symmetric = own(1 << 16), zeros(4)
        _core.register_memory("railshmem.torch.register", t)
        _core.coll_on_stream("all_reduce", t, t.fill(*[1.0] * (1 << 16)), op="sum")
        assert t.tolist()[-1] == npes
        _core.unregister_memory("railshmem.torch.unregister", t)
        _core.register_memory("railshmem.torch.register", symmetric)
        _core.unregister_memory("railshmem.torch.unregister", symmetric)
        try:
            _core.unregister_memory("railshmem.torch.unregister", t)
        except RuntimeError as error:
            assert "did not undo it" in str(error), error
        else:
            sys.exit("no exception")
        free(symmetric)
        """)
