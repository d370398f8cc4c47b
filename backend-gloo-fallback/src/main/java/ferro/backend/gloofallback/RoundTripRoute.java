package ferro.backend.gloofallback;

import ferro.Collective;
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
        DeviceTensor in = (DeviceTensor) call.in();
        DeviceTensor out = (DeviceTensor) call.out();
        return switch (call.kind()) {
            case ALL_GATHER ->
                new RoundTripRoute(
                        call, rank, worldSize, part(in, rank), all(out, worldSize, rank), own(in, part(out, in, rank)));
            case REDUCE_SCATTER ->
                new RoundTripRoute(call, rank, worldSize, all(in, worldSize, -1), part(out, rank), null);
            case GATHER ->
                rank == call.root()
                        ? new RoundTripRoute(
                                call, rank, worldSize, null, all(out, worldSize, rank), own(in, part(out, in, rank)))
                        : new RoundTripRoute(call, rank, 1, part(in, 0), null, null);
            case SCATTER ->
                rank == call.root()
                        ? new RoundTripRoute(
                                call, rank, worldSize, all(in, worldSize, rank), null, own(part(in, out, rank), out))
                        : new RoundTripRoute(call, rank, 1, null, part(out, 0), null);
            case ALL_TO_ALL -> allToAll(call, rank, worldSize);
            default ->
                new RoundTripRoute(
                        call, rank, 1, part((DeviceTensor) call.reads(rank), 0), part(written(call, rank), 0), null);
        };
    }

    private static RoundTripRoute allToAll(Collective call, int rank, int worldSize) {
        DeviceTensor in = (DeviceTensor) call.in();
        DeviceTensor out = (DeviceTensor) call.out();
        long length = in.elementCount() / worldSize;
        OwnPart within = own(in.slice(rank * length, length), out.slice(rank * length, length));
        TensorSide back = new TensorSide(out, worldSize, worldSize, worldSize + rank);
        return new RoundTripRoute(call, rank, 2 * worldSize, all(in, worldSize, rank), back, within);
    }

    private static DeviceTensor written(Collective call, int rank) {
        return (DeviceTensor) call.writes(rank);
    }

    private static TensorSide part(DeviceTensor tensor, int first) {
        return tensor == null ? null : new TensorSide(tensor, first, 1, -1);
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
        boolean root = rank == call.root();
        return switch (call.kind()) {
            case ALL_GATHER -> call.on(own, staging);
            case REDUCE_SCATTER -> call.on(staging, own);
            case GATHER -> root ? call.on(own, staging) : call.on(staging, staging);
            case SCATTER -> root ? call.on(staging, own) : call.on(staging, staging);
            case ALL_TO_ALL ->
                call.on(staging.slice(0, parts / 2 * length), staging.slice(parts / 2 * length, parts / 2 * length));
            default -> call.on(staging, staging);
        };
    }
}
