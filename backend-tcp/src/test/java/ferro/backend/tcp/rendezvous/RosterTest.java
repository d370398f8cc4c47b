package ferro.backend.tcp.rendezvous;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.connect.TlsPolicy.TlsUse;
import ferro.backend.tcp.mesh.Ranks;
import ferro.spi.GroupSpec;
import java.lang.reflect.Proxy;
import java.util.Locale;
import java.util.Map;
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
    void aRankThatFailedToJoinMeetsOneThatHadJoinedInTheNextGeneration() {
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
    void aRankThatCameTooEarlyIsInTheNextGenerationAtItsNextAttempt() {
        Roster joined = claimed(0);
        claimed(1).giveUp();
        Roster early = claimed(1);
        joined.leave();
        Roster ahead = claimed(0);
        assertNotEquals(ahead.id(), early.id());

        early.giveUp();

        assertEquals(ahead.id(), claimed(1).id());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 100})
    void aSlotIsGivenBackAlsoWhereAnswersComeTooLate(int lateAnswers) {
        AtomicInteger asked = new AtomicInteger();
        Store late = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(store, arguments);
                    if (asked.getAndIncrement() < lateAnswers) {
                        throw new FerroException(Code.TIMED_OUT, Where.outside("g", 0), "the answer came too late");
                    }
                    return answer;
                });
        Roster failed = roster(late, 0, 3);
        assertThrows(FerroException.class, failed::claim);

        failed.giveUp();

        roster(store, 0, 5).claim();
    }

    @Test
    void aSlotOfAnotherProcessIsNotGivenBack() {
        Roster first = claimed(0);
        Roster second = roster(store, 0, 5);
        assertThrows(FerroException.class, second::claim);

        second.giveUp();

        assertThrows(FerroException.class, roster(store, 0, 7)::claim);
        assertEquals(first.id(), claimed(1).id());
    }

    @ParameterizedTest
    @CsvSource({"ON, OFF", "OFF, ON"})
    @DisplayName("a rank that encrypts everything and one that encrypts nothing are told in the store")
    void aRankThatEncryptsEverythingAndOneThatEncryptsNothingAreToldInTheStore(TlsUse first, TlsUse second) {
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
    void ranksOfOtherSettingsOfTlsFindOutByTheirPlaces(TlsUse first, TlsUse second) {
        roster(store, 0, 3, first).claim();

        roster(store, 1, 4, second).claim();
    }

    private static String word(TlsUse use) {
        return use.name().toLowerCase(Locale.ROOT);
    }

    private Roster claimed(int rank) {
        Roster made = roster(store, rank, 3 + rank);
        made.claim();
        return made;
    }

    private static Roster roster(Store store, int rank, long instance) {
        return roster(store, rank, instance, TlsUse.AUTO);
    }

    private static Roster roster(Store store, int rank, long instance, TlsUse tls) {
        Roster.Card card = new Roster.Card("127.0.0.1", 9, rank, instance, PeerMachine.UNKNOWN, "", "");
        return new Roster(store, spec(rank), card, false, tls);
    }

    private static GroupSpec spec(int rank) {
        return new GroupSpec("g", rank, 2, Ranks.LONG);
    }
}
