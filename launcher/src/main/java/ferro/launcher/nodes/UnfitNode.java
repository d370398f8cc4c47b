package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.LauncherStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/** A node that cannot start its ranks: it tells the others instead of meeting them, and no rank starts on any. */
public final class UnfitNode {
    private UnfitNode() {}

    /**
     * Tells the others why; the launcher of node 0 stays until they have heard it. Interruptible.
     *
     * @param connection to the store; stays open
     * @param own        this launcher
     * @param why        in words that follow the name of the node, and the exit code of all launchers
     * @param patience   how long node 0 waits for the others to come
     * @return what all nodes say: this, or what another has told before
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static NodesApartException tell(
            LauncherStore connection, NodeCard own, NodesApartException why, Duration patience)
            throws InterruptedException {
        Start said = Start.refused(own + " " + why.getMessage(), why.exitCode());
        try {
            Store store = connection.store();
            if (!Keys.first(store, Keys.START, Keys.encoded(said))) {
                Start before = Keys.decoded(store.get(Keys.START, patience), Start.class);
                // a job that has begun is whole without this launcher, which claims a node of it
                said = before.begins() ? said : before;
            }
            // by its card node 0 knows that this launcher has come, and needs to be told nothing
            Keys.first(store, Keys.card(own.node()), Keys.encoded(own));
            if (own.node() == 0) {
                stay(store, own.nodes(), patience);
            }
        } catch (FerroException | IllegalStateException gone) {
            return new NodesApartException(said.refusal(), said.code());
        }
        return new NodesApartException(said.refusal(), said.code());
    }

    /** The store goes with the launcher of node 0, which therefore waits for the others to come, to read and to go. */
    private static void stay(Store store, int nodes, Duration patience) throws InterruptedException {
        CompletableFuture<?>[] gone = IntStream.range(1, nodes)
                .mapToObj(node -> store.when(Keys.card(node))
                        .thenApply(card -> Keys.decoded(card, NodeCard.class))
                        .thenCompose(card -> store.when(LauncherStore.goneKey(node, card.session())))
                        .toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(gone).get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException absent) {
            // whoever comes later finds nobody
            return;
        }
    }
}
