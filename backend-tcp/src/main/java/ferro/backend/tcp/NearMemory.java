package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.RankContext;
import ferro.spi.Services;
import ferro.spi.Settings;
import ferro.spi.SharedMemoryProvider;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * By what ranks of one host share memory; back end tcp knows no other, so it looks for the service.
 *
 * <p>Ranks tell each other while they join whether they can. A group with one that cannot uses none, on all ranks: finding out
 * who is near takes all.
 */
final class NearMemory {
    private static final Logger LOG = System.getLogger("ferro.join");
    private static final String LINKS = Settings.LINKS.name();

    private final Optional<SharedMemoryProvider> provider;
    private final boolean needed;
    private final String lacking;
    /** By rank, once they have told. */
    private final String[] lackingByRank;

    private NearMemory(
            Optional<SharedMemoryProvider> provider, boolean needed, String lacking, String... lackingByRank) {
        this.provider = provider;
        this.needed = needed;
        this.lacking = lacking;
        this.lackingByRank = lackingByRank;
    }

    /** Nothing is shared where nobody was asked. */
    static NearMemory none() {
        return new NearMemory(Optional.empty(), false, "nobody was asked");
    }

    /** Finds what this rank has, unless {@code ferro.links=tcp}. */
    static NearMemory find(RankContext context) {
        String links = Settings.LINKS.of(context);
        boolean needed = links.equals("shm");
        List<String> reasons = new ArrayList<>();
        Optional<SharedMemoryProvider> found = links.equals("tcp") ? Optional.empty() : usable(context, reasons);
        if (found.isPresent()) {
            return new NearMemory(found, needed, "");
        }
        String why = links.equals("tcp")
                ? LINKS + "=tcp"
                : reasons.isEmpty() ? "ferro-backend-shm is not on the class path" : String.join("; ", reasons);
        LOG.log(Level.DEBUG, "no shared memory: " + why);
        return new NearMemory(found, needed, why.replace('\n', ' '));
    }

    /**
     * Looks whether this rank can go on, which those that wait for it are to hear.
     *
     * @throws IllegalArgumentException if {@code ferro.links=shm} and there is none that works here
     */
    void check() {
        if (needed && !lacking.isEmpty()) {
            throw new IllegalArgumentException(LINKS + "=shm cannot work here: " + lacking
                    + ": mend that, or let links be tcp (" + LINKS + "=auto, back end tcp)");
        }
    }

    private static Optional<SharedMemoryProvider> usable(RankContext context, List<String> reasons) {
        return Services.first(
                ServiceLoader.load(SharedMemoryProvider.class),
                next -> {
                    Optional<String> unavailable = next.unavailableBecause(context);
                    unavailable.ifPresent(reasons::add);
                    return unavailable.isEmpty() ? Optional.of(next) : Optional.empty();
                },
                broken -> reasons.add("broken provider: " + broken.getMessage()));
    }

    /** Returns why this rank has none; empty if it has. */
    String lacking() {
        return lacking;
    }

    /**
     * Returns the same with what all ranks have told.
     *
     * @param lackingByRank each rank's {@link #lacking}
     * @throws FerroException RESOURCE if this rank may use nothing else and one has none
     */
    NearMemory agreed(String[] lackingByRank, Where where) {
        for (int rank = 0; needed && rank < lackingByRank.length; rank++) {
            if (!lackingByRank[rank].isEmpty()) {
                throw new FerroException(
                        Code.RESOURCE,
                        where.blaming(Integer.toString(rank)),
                        LINKS + "=shm on rank " + where.rank() + " of \"" + where.group() + "\", but rank " + rank
                                + " shares no memory: " + lackingByRank[rank] + ": mend that, or let links be auto");
            }
        }
        return new NearMemory(provider, needed, lacking, lackingByRank);
    }

    /** Returns it where all of some ranks have it. */
    Optional<SharedMemoryProvider> among(int[] ranks) {
        for (int rank : ranks) {
            if (rank >= lackingByRank.length || !lackingByRank[rank].isEmpty()) {
                return Optional.empty();
            }
        }
        return provider;
    }

    /** Returns why some ranks share none, with the first of them that has none unless it is all by one reason; empty if they do. */
    String lackingAmong(int[] ranks) {
        String[] told = IntStream.of(ranks)
                .mapToObj(rank -> rank < lackingByRank.length ? lackingByRank[rank] : lacking)
                .toArray(String[]::new);
        for (int i = 0; i < told.length; i++) {
            if (!told[i].isEmpty()) {
                return Stream.of(told).distinct().count() == 1 ? told[i] : "rank " + i + " has none: " + told[i];
            }
        }
        return "";
    }
}
