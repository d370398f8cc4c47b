package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.Held;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Tensor;

/**
 * What one rank moves for a call: out of the device, in staging memory, and back. It moves no more than is needed.
 *
 * @param call   operation on device tensors
 * @param rank   this rank
 * @param parts  number of parts in this rank's staging memory
 * @param out    what is copied to the host, or null
 * @param back   what is copied to the device, or null
 * @param within own part that is copied on the device only, or null
 */
record RoundTripRoute(Collective call, int rank, int parts, TensorSide out, TensorSide back, OwnPart within) {
    /**
     * A copy on the device.
     *
     * @param from own part of the input
     * @param to   own part of the output
     */
    record OwnPart(DeviceTensor from, DeviceTensor to) {}

    static RoundTripRoute of(Collective call, int rank, int worldSize) {
        CollectiveKind kind = call.kind();
        if (kind == CollectiveKind.ALL_TO_ALL) {
            return allToAll(call, rank, worldSize);
        }
        if (!kind.hasParts() || kind.isRooted() && rank != call.root()) {
            return new RoundTripRoute(call, rank, 1, part(call.reads(rank), 0), part(call.writes(rank), 0), null);
        }
        DeviceTensor in = (DeviceTensor) call.in();
        DeviceTensor out = (DeviceTensor) call.out();
        if (kind.in() == Held.PART) {
            TensorSide sent = kind.isRooted() ? null : part(in, rank);
            OwnPart own = own(in, part(out, in, rank));
            return new RoundTripRoute(call, rank, worldSize, sent, all(out, worldSize, rank), own);
        }
        return kind.isRooted()
                ? new RoundTripRoute(
                        call, rank, worldSize, all(in, worldSize, rank), null, own(part(in, out, rank), out))
                : new RoundTripRoute(call, rank, worldSize, all(in, worldSize, -1), part(out, rank), null);
    }

    private static RoundTripRoute allToAll(Collective call, int rank, int worldSize) {
        DeviceTensor in = (DeviceTensor) call.in();
        DeviceTensor out = (DeviceTensor) call.out();
        long length = in.elementCount() / worldSize;
        OwnPart within = own(in.slice(rank * length, length), out.slice(rank * length, length));
        TensorSide back = new TensorSide(out, worldSize, worldSize, worldSize + rank);
        return new RoundTripRoute(call, rank, 2 * worldSize, all(in, worldSize, rank), back, within);
    }

    private static TensorSide part(Tensor tensor, int first) {
        return tensor == null ? null : new TensorSide((DeviceTensor) tensor, first, 1, -1);
    }

    private static TensorSide all(DeviceTensor tensor, int worldSize, int left) {
        return new TensorSide(tensor, 0, worldSize, left);
    }

    private static DeviceTensor part(DeviceTensor whole, DeviceTensor part, int rank) {
        return whole.slice(rank * part.elementCount(), part.elementCount());
    }

    /** Returns the copy of the own part; null if input and output share the part, or it is empty. */
    private static OwnPart own(DeviceTensor from, DeviceTensor to) {
        return from.address() == to.address() || from.elementCount() == 0 ? null : new OwnPart(from, to);
    }

    DataType type() {
        return call.operand().dataType();
    }

    int device() {
        return ((DeviceTensor) call.operand()).device();
    }

    /** Returns the bytes of staging memory that the longest piece needs. */
    int stagingBytes(PieceCut cut) {
        return Math.toIntExact(parts * (long) cut.length(0) * type().byteSize());
    }

    /** Returns the same call on staging memory of {@link #parts} parts. */
    Collective onHost(HostTensor staging) {
        long length = staging.elementCount() / parts;
        Tensor own = parts == 1 ? staging : staging.slice(rank * length, length);
        CollectiveKind kind = call.kind();
        if (kind == CollectiveKind.ALL_TO_ALL) {
            long half = parts / 2 * length;
            return call.on(staging.slice(0, half), staging.slice(half, half));
        }
        return call.on(kind.in() == Held.PART ? own : staging, kind.out() == Held.PART ? own : staging);
    }
}
