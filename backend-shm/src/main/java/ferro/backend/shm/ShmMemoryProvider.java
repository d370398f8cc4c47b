package ferro.backend.shm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.Settings;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Optional;

/** A provider of segments in files of the folder {@code ferro.shm.dir}. */
public final class ShmMemoryProvider implements SharedMemoryProvider {
    private static final String WAY_OUT = ", or send everything over TCP with " + Settings.LINKS.name() + "=tcp";

    /**
     * Divisor of the timeout. The quotient limits the wait for the garbage collector, because other ranks wait at this
     * time.
     */
    private static final int DEADLINE_PARTS = 4;

    /** Creates a provider, which loads nothing. {@link java.util.ServiceLoader} calls this constructor. */
    public ShmMemoryProvider() {}

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return SegmentFolder.unusableBecause(context);
    }

    @Override
    public String host(RankContext context) {
        try {
            return SegmentFolder.of(context).host();
        } catch (IOException failure) {
            throw new FerroException(
                    Code.RESOURCE,
                    Where.of("", -1),
                    "cannot determine a name that all processes use for this host: "
                            + SegmentShortage.of(failure).text(),
                    failure);
        }
    }

    /**
     * Creates this rank's segment, and removes files that dead processes of this user have left.
     *
     * @throws FerroException RESOURCE if a resource is lacking, INTERRUPTED if the caller was interrupted
     */
    @Override
    public SharedMemory open(GroupSpec group, RankContext context, SegmentSize size) {
        long bytes = size.bytes();
        if (bytes < 1 || bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("an area of " + bytes + " bytes for group \"" + group.name()
                    + "\": need 1 to " + Integer.MAX_VALUE);
        }
        MemoryBudget budget = context.shared(MemoryBudget.class, MemoryBudget::new);
        try {
            take(budget, group, context, bytes);
        } catch (RuntimeException failure) {
            context.release(MemoryBudget.class);
            throw failure;
        }
        MemoryBudget.Reservation taken = budget.new Reservation(bytes, () -> context.release(MemoryBudget.class));
        try {
            return made(group, context, size, taken);
        } catch (RuntimeException | Error failure) {
            taken.giveBack();
            throw failure;
        }
    }

    private static void take(MemoryBudget budget, GroupSpec group, RankContext context, long bytes) {
        long most = Settings.SHM_BYTES.of(context);
        // in a debugger a call has no limit, but this wait has one, so that a lack of memory is reported
        Duration limit = Settings.TIMEOUT.of(context);
        Duration timeout = group.timeout().compareTo(limit) < 0 ? group.timeout() : limit;
        long before = budget.take(bytes, most, timeout.dividedBy(DEADLINE_PARTS));
        if (before >= 0) {
            String setting = Settings.SHM_BYTES.name();
            throw new FerroException(
                    Code.RESOURCE,
                    Where.of(group.name(), group.rank()),
                    "shared memory for " + who(group) + ": need " + bytes + " bytes, have " + (most - before)
                            + " of the "
                            + most + " that this rank may take: raise " + setting + ", close groups that are not used"
                            + WAY_OUT);
        }
    }

    private static SharedMemory made(
            GroupSpec group, RankContext context, SegmentSize size, MemoryBudget.Reservation taken) {
        Segment segment = null;
        try {
            SegmentFolder place = SegmentFolder.of(context);
            SegmentCleaner.sweep(place.folder(), place.process());
            segment = new Segment(place, size, taken.promise(size));
            segment.make();
            return new ShmMemory(group, place, segment, taken);
        } catch (IOException failure) {
            FerroException told = told(failure, group, context, size.bytes());
            closeAfter(told, segment);
            throw told;
        } catch (RuntimeException | Error failure) {
            closeAfter(failure, segment);
            throw failure;
        }
    }

    private static FerroException told(IOException failure, GroupSpec group, RankContext context, long bytes) {
        Where where = Where.of(group.name(), group.rank());
        String what = "shared memory for " + who(group) + ": ";
        if (failure instanceof ClosedByInterruptException) {
            return new FerroException(
                    Code.INTERRUPTED, where, what + "interrupted while " + bytes + " bytes were reserved", failure);
        }
        return new FerroException(
                Code.RESOURCE,
                where,
                what + "need " + Segment.fileBytes(bytes) + " bytes in " + Settings.SHM_DIR.of(context) + ", where "
                        + SegmentShortage.of(failure).text(),
                failure);
    }

    private static void closeAfter(Throwable failure, Segment segment) {
        try {
            if (segment != null) {
                segment.close();
            }
        } catch (IOException | RuntimeException second) {
            failure.addSuppressed(second);
        }
    }

    private static String who(GroupSpec group) {
        return "group \"" + group.name() + "\" rank " + group.rank();
    }
}
