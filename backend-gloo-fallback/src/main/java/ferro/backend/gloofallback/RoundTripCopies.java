package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Tensor;

/**
 * The data that one rank copies for a call: to the host, within the device, and back to the device. Only needed data is
 * copied.
 *
 * @param call   operation on device tensors
 * @param rank   this rank
 * @param parts  number of parts in this rank's staging memory
 * @param out    data to copy to the host, or null
 * @param back   data to copy to the device, or null
 * @param within copy of this rank's part on the device only, or null
 */
record RoundTripCopies(
        Collective call, int rank, int parts, StagingMapping out, StagingMapping back, OwnPartCopy within) {
    /**
     * A copy of this rank's part from the input to the output, within the device.
     *
     * @param from this rank's part of the input
     * @param to   this rank's part of the output
     */
    record OwnPartCopy(DeviceTensor from, DeviceTensor to) {}

    static RoundTripCopies of(Collective call, int rank, int worldSize) {
        CollectiveKind kind = call.kind();
        if (!kind.hasParts() || kind.isRooted() && rank != call.root()) {
            return new RoundTripCopies(call, rank, 1, part(call.reads(rank), 0), part(call.writes(rank), 0), null);
        }
        DeviceTensor in = (DeviceTensor) call.in();
        DeviceTensor out = (DeviceTensor) call.out();
        boolean hasOnePart = kind.in() == DataShare.PART;
        boolean getsOnePart = kind.out() == DataShare.PART;
        // a sum combines data of every rank, so its own part also goes through the host
        int left = kind.combines() ? -1 : rank;
        int behind = hasOnePart || getsOnePart ? 0 : worldSize;
        long length = call.operand().elementCount() / (behind == 0 ? 1 : worldSize);
        OwnPartCopy own = kind.combines()
                ? null
                : own(hasOnePart ? in : part(in, length, rank), getsOnePart ? out : part(out, length, rank));
        StagingMapping sent =
                hasOnePart ? part(kind.isRooted() ? null : in, rank) : new StagingMapping(in, 0, worldSize, left);
        StagingMapping got = getsOnePart
                ? part(kind.isRooted() ? null : out, rank)
                : new StagingMapping(out, behind, worldSize, behind + rank);
        return new RoundTripCopies(call, rank, worldSize + behind, sent, got, own);
    }

    private static StagingMapping part(Tensor tensor, int first) {
        return tensor == null ? null : new StagingMapping((DeviceTensor) tensor, first, 1, -1);
    }

    private static DeviceTensor part(DeviceTensor all, long length, int rank) {
        return all.slice(rank * length, length);
    }

    /** Returns the copy of this rank's part; null if input and output share this part, or if the part is empty. */
    private static OwnPartCopy own(DeviceTensor from, DeviceTensor to) {
        return from.address() == to.address() || from.elementCount() == 0 ? null : new OwnPartCopy(from, to);
    }

    DataType type() {
        return call.operand().dataType();
    }

    int device() {
        return ((DeviceTensor) call.operand()).device();
    }

    /** Returns the bytes of staging memory that the longest piece needs. */
    int stagingBytes(PieceLayout cut) {
        return Math.toIntExact(parts * (long) cut.length(0) * type().byteSize());
    }

    /** Returns the call with its operands in staging memory of {@link #parts} parts. */
    Collective onHost(HostTensor staging) {
        long length = staging.elementCount() / parts;
        Tensor own = parts == 1 ? staging : staging.slice(rank * length, length);
        CollectiveKind kind = call.kind();
        if (kind == CollectiveKind.ALL_TO_ALL) {
            long half = parts / 2 * length;
            return call.on(staging.slice(0, half), staging.slice(half, half));
        }
        return call.on(kind.in() == DataShare.PART ? own : staging, kind.out() == DataShare.PART ? own : staging);
    }
}
