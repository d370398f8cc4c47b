package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.TlsPolicy.TlsMode;
import ferro.spi.GroupSpec;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which generation ranks meet in. */
class RosterTest {
    private Ranks ranks;
    private Store store;

    @BeforeEach
    void serve() {
        ranks = Ranks.onLoopback();
        store = ranks.context(spec(0), Map.of()).store();
    }

    @AfterEach
    void end() {
        ranks.close();
    }

    @Test
    @DisplayName("row 24: a rank that failed to join meets one that had joined in the next generation")
    void ranksJoinTheNextGenerationAfterOneOfThemFailed() {
        Roster joined = claimed(0);
        Roster failed = claimed(1);
        assertEquals(joined.id(), failed.id());
        joined.leave();
        failed.giveUp();

        Roster ahead = claimed(0);
        Roster behind = claimed(1);

        assertEquals(ahead.id(), behind.id());
        assertNotEquals(joined.id(), ahead.id());
    }

    @Test
    void aRankThatWasTooEarlyJoinsTheNextGenerationAtItsNextAttempt() {
        Roster joined = claimed(0);
        claimed(1).giveUp();
        Roster early = claimed(1);
        joined.leave();
        Roster ahead = claimed(0);
        assertNotEquals(ahead.id(), early.id());

        early.giveUp();

        assertEquals(ahead.id(), claimed(1).id());
    }

    @Test
    void anEntryOfAnEarlierGenerationIsIgnored() throws Exception {
        store.set("g/generation", "2".getBytes(StandardCharsets.UTF_8));
        store.set("g/1/card/1", "stale".getBytes(StandardCharsets.UTF_8));

        CompletableFuture<byte[]> peer = claimed(0).card(1).toCompletableFuture();

        // answers come in order
        store.add("any", 0);
        assertFalse(peer.isDone(), "the entry of generation 1 is taken for that of generation 2");
        store.set("g/2/card/1", "fresh".getBytes(StandardCharsets.UTF_8));
        assertEquals("fresh", Roster.text(peer.get(20, TimeUnit.SECONDS)));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 100})
    void aSlotIsReleasedAlthoughAnswersAreLate(int lateAnswers) {
        AtomicInteger asked = new AtomicInteger();
        Store late = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(store, arguments);
                    FerroException tooLate =
                            new FerroException(Code.TIMED_OUT, Where.of("g", 0), "the answer came too late");
                    if (asked.getAndIncrement() >= lateAnswers) {
                        return answer;
                    }
                    if (answer instanceof CompletionStage) {
                        return CompletableFuture.failedStage(tooLate);
                    }
                    throw tooLate;
                });
        Roster failed = roster(late, 0, 3);
        assertThrows(FerroException.class, failed::claim);

        failed.giveUp();

        roster(store, 0, 5).claim();
    }

    @Test
    void aSlotOfAnotherProcessIsNotReleased() {
        Roster first = claimed(0);
        Roster second = roster(store, 0, 5);
        assertThrows(FerroException.class, second::claim);

        second.giveUp();

        assertThrows(FerroException.class, roster(store, 0, 7)::claim);
        assertEquals(first.id(), claimed(1).id());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLateReleaseDoesNotAffectALaterJoin(boolean hadJoined) {
        List<Runnable> late = new ArrayList<>();
        Store slow = withLateReleases(late);
        ReleasedSlots ofContext = new ReleasedSlots();
        Roster first = roster(slow, 3, ofContext);
        first.claim();
        first.announce();
        release(first, hadJoined);
        Roster second = roster(slow, 5, ofContext);

        second.claim();
        second.announce();
        late.forEach(Runnable::run);

        assertEquals(hadJoined, first.id() != second.id());
        byte[] card = store.get(hadJoined ? "g/2/card/0" : "g/1/card/0", Ranks.LONG);
        assertEquals(5, Roster.RankEntry.of(Roster.text(card)).instance());
        assertThrows(FerroException.class, roster(store, 7, new ReleasedSlots())::claim);
    }

    @Test
    void aReleasedSlotIsFreeForAnyProcess() {
        ReleasedSlots ofContext = new ReleasedSlots();
        Roster first = roster(store, 3, ofContext);
        first.claim();
        first.leave();
        roster(store, 3, new ReleasedSlots()).claim();

        // the same instance again: two processes would hardly draw it
        assertThrows(FerroException.class, roster(store, 5, ofContext)::claim);
    }

    private static void release(Roster roster, boolean hadJoined) {
        if (hadJoined) {
            roster.leave();
        } else {
            roster.giveUp();
        }
    }

    /** Returns the store of the test; it gets requests without an answer when the tasks are run. */
    private Store withLateReleases(List<Runnable> late) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("compareAndSetAsync")) {
                        return method.invoke(store, arguments);
                    }
                    late.add(() ->
                            store.compareAndSet((String) arguments[0], (byte[]) arguments[1], (byte[]) arguments[2]));
                    return new CompletableFuture<>();
                });
    }

    private static Roster roster(Store store, long instance, ReleasedSlots released) {
        Roster.RankEntry card = new Roster.RankEntry("127.0.0.1", 9, 0, instance, PeerHost.UNKNOWN, "");
        return new Roster(store, spec(0), card, new Roster.SharedSettings(false, TlsMode.AUTO, false), released);
    }

    @ParameterizedTest
    @CsvSource({"ON, OFF", "OFF, ON"})
    @DisplayName("a rank that encrypts everything and one that encrypts nothing are told in the store")
    void aRankWithTlsOnAndARankWithTlsOffAreRefused(TlsMode first, TlsMode second) {
        roster(store, 0, 3, first).claim();
        Roster other = roster(store, 1, 4, second);

        FerroException failure = assertThrows(FerroException.class, other::claim);

        String text = "rank 1 of \"g\" has ferro.tls=" + word(second) + ", rank 0 has " + word(first)
                + ": give all ranks the same ferro.tls";
        assertEquals(Code.RENDEZVOUS, failure.code());
        assertEquals(text, failure.getMessage());
        assertEquals(
                text,
                other.failed().toCompletableFuture().thenApply(Roster::text).join());
    }

    @ParameterizedTest
    @CsvSource({"AUTO, ON", "AUTO, OFF", "ON, AUTO", "OFF, AUTO", "ON, ON", "OFF, OFF"})
    @DisplayName("ranks of other settings of TLS find out by their places whether they can connect")
    void ranksWithCompatibleTlsSettingsClaimTheirSlots(TlsMode first, TlsMode second) {
        roster(store, 0, 3, first).claim();

        roster(store, 1, 4, second).claim();
    }

    @Test
    void aRankInADebuggerRefusesARankOutside() {
        roster(store, 0, 3).claim();
        Roster debugged = new Roster(
                store,
                spec(1),
                new Roster.RankEntry("127.0.0.1", 9, 1, 4, PeerHost.UNKNOWN, ""),
                new Roster.SharedSettings(false, TlsMode.AUTO, true),
                new ReleasedSlots());

        FerroException refused = assertThrows(FerroException.class, debugged::claim);

        assertEquals(
                "rank 1 of \"g\" has ferro.debug=true, rank 0 has false: give all ranks the same ferro.debug",
                refused.getMessage());
    }

    private static String word(TlsMode use) {
        return use.name().toLowerCase(Locale.ROOT);
    }

    private Roster claimed(int rank) {
        Roster made = roster(store, rank, 3 + rank);
        made.claim();
        return made;
    }

    private static Roster roster(Store store, int rank, long instance) {
        return roster(store, rank, instance, TlsMode.AUTO);
    }

    private static Roster roster(Store store, int rank, long instance, TlsMode tls) {
        Roster.RankEntry card = new Roster.RankEntry("127.0.0.1", 9, rank, instance, PeerHost.UNKNOWN, "");
        return new Roster(store, spec(rank), card, new Roster.SharedSettings(false, tls, false), new ReleasedSlots());
    }

    private static GroupSpec spec(int rank) {
        return GroupSpec.of("g", rank, 2, Ranks.LONG);
    }
}
