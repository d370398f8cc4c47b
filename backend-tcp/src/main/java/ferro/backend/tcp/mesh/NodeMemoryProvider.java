package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import ferro.spi.Settings;
import ferro.spi.SharedMemoryProvider;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/**
 * The provider through which ranks of one host share memory. This module does not depend on a provider; the service
 * loader finds the provider.
 *
 * <p>Joining ranks publish whether they can share memory. If one rank of a group cannot share memory, no rank of the
 * group shares memory. The reason is that all ranks must take part in finding out which ranks are on one host.
 */
final class NodeMemoryProvider {
    private static final Logger LOG = System.getLogger("ferro.join");
    private static final String LINKS = Settings.LINKS.name();

    private final Optional<SharedMemoryProvider> provider;
    private final boolean needed;
    private final String lacking;
    /** The error of a provider that cannot be loaded; null without an error. */
    private final Throwable broken;
    /** By rank, the reason why the rank shares no memory. Filled when all ranks have published their reasons. */
    private final String[] lackingByRank;

    private NodeMemoryProvider(
            Optional<SharedMemoryProvider> provider,
            boolean needed,
            String lacking,
            Throwable broken,
            String... lackingByRank) {
        this.provider = provider;
        this.needed = needed;
        this.lacking = lacking;
        this.broken = broken;
        this.lackingByRank = lackingByRank;
    }

    /**
     * Returns an instance without shared memory, for the time before ranks have published whether they share memory.
     */
    static NodeMemoryProvider none() {
        return new NodeMemoryProvider(Optional.empty(), false, "no rank was asked for shared memory", null);
    }

    /** Finds the provider of this rank, unless {@code ferro.links=tcp}. */
    static NodeMemoryProvider find(RankContext context) {
        String links = Settings.LINKS.of(context);
        boolean needed = links.equals("shm");
        List<String> reasons = new ArrayList<>();
        ServiceErrors broken = new ServiceErrors();
        Optional<SharedMemoryProvider> found =
                links.equals("tcp") ? Optional.empty() : usable(context, reasons, broken);
        if (found.isPresent()) {
            return new NodeMemoryProvider(found, needed, "", null);
        }
        String why = links.equals("tcp")
                ? LINKS + "=tcp"
                : reasons.isEmpty() ? "ferro-backend-shm is not on the class path" : String.join("; ", reasons);
        LOG.log(Level.DEBUG, "no shared memory: " + why, broken.cause());
        return new NodeMemoryProvider(found, needed, why.replace('\n', ' '), broken.cause());
    }

    /**
     * Checks that this rank can continue to join. If the check fails, the caller must notify the ranks that wait for
     * this rank.
     *
     * @throws IllegalArgumentException if {@code ferro.links=shm} and no provider works on this host
     */
    void check() {
        if (needed && !lacking.isEmpty()) {
            throw new IllegalArgumentException(
                    LINKS + "=shm cannot work here: " + lacking + ": fix this, or use TCP links (" + LINKS
                            + "=auto, back end tcp)",
                    broken);
        }
    }

    private static Optional<SharedMemoryProvider> usable(
            RankContext context, List<String> reasons, ServiceErrors broken) {
        Optional<SharedMemoryProvider> found = Services.first(
                Services.of(SharedMemoryProvider.class),
                next -> {
                    Optional<String> unavailable = next.unavailableBecause(context);
                    if (unavailable.isPresent()) {
                        reasons.add(unavailable.get());
                        return Optional.empty();
                    }
                    return Optional.of(next);
                },
                broken::add);
        reasons.addAll(broken.texts());
        return found;
    }

    /** Returns the reason why this rank has no shared memory; empty if this rank has shared memory. */
    String lacking() {
        return lacking;
    }

    /**
     * Returns a copy of this object with the published reasons of all ranks.
     *
     * @param lackingByRank {@link #lacking} of each rank
     * @throws FerroException RESOURCE if this rank may only use shared memory and a rank has none
     */
    NodeMemoryProvider agreed(String[] lackingByRank, Where where) {
        for (int rank = 0; needed && rank < lackingByRank.length; rank++) {
            if (!lackingByRank[rank].isEmpty()) {
                throw new FerroException(
                        Code.RESOURCE,
                        where.blaming(rank),
                        LINKS + "=shm on rank " + where.rank() + " of \"" + where.group() + "\", but rank " + rank
                                + " shares no memory: " + lackingByRank[rank] + ": fix this, or set the links to auto");
            }
        }
        return new NodeMemoryProvider(provider, needed, lacking, broken, lackingByRank);
    }

    Optional<SharedMemoryProvider> among(int[] ranks) {
        for (int rank : ranks) {
            if (rank >= lackingByRank.length || !lackingByRank[rank].isEmpty()) {
                return Optional.empty();
            }
        }
        return provider;
    }

    /**
     * Returns the reason why the given ranks share no memory; empty if they can. If reasons differ, the text names the
     * first rank that has a reason.
     */
    String lackingAmong(int[] ranks) {
        String[] told = new String[ranks.length];
        for (int i = 0; i < told.length; i++) {
            told[i] = ranks[i] < lackingByRank.length ? lackingByRank[ranks[i]] : lacking;
        }
        for (int i = 0; i < told.length; i++) {
            if (!told[i].isEmpty()) {
                return new HashSet<>(List.of(told)).size() == 1
                        ? told[i]
                        : "rank " + i + " has no shared memory: " + told[i];
            }
        }
        return "";
    }
}
