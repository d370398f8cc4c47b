package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class JoinOptionsTest {
    private static final JoinOptions RANK = JoinOptions.of(1, 3);

    @AfterEach
    void unset() {
        List.of("ferro.segment", "ferro.links", "ferro.rank", "ferro.rendezvous")
                .forEach(System::clearProperty);
    }

    @Test
    void optionsReplaceVariables() {
        JoinOptions options = RANK.group("stage3.0")
                .local(1, 2)
                .cores(4)
                .job("app", 7)
                .storeAt("10.0.0.1:29500")
                .timeout(Duration.ofSeconds(61))
                .joinTimeout(Duration.ofMillis(1500));
        try (SystemContext context = SystemContext.of(options)) {
            assertEquals(
                    GroupSpec.of("stage3.0", 1, 3, Duration.ofSeconds(61)).withJoinTimeout(Duration.ofMillis(1500)),
                    context.spec());
            assertEquals(1, Settings.LOCAL_RANK.of(context));
            assertEquals(2, Settings.LOCAL_WORLD_SIZE.of(context));
            assertEquals(4, Settings.LOCAL_CORES.of(context));
            assertEquals("app.7", Settings.JOB_ID.of(context));
            assertEquals("tcp://10.0.0.1:29500", Settings.RENDEZVOUS.of(context));
            assertTrue(Settings.STORE_SERVED.of(context), "the ranks must not serve the store");
            assertEquals(Duration.ofMillis(1500), Settings.JOIN_TIMEOUT.of(context));
            assertEquals("10.0.0.1:29500", context.storeEndpoint());
        }
    }

    @Test
    void onlyACallTimeoutInOptionsLimitsTheJoin() {
        try (SystemContext timed = SystemContext.of(RANK.timeout(Duration.ofSeconds(61)));
                SystemContext set = SystemContext.of(Map.of("RANK", "1", "WORLD_SIZE", "3", "ferro.timeout", "3s"))) {
            assertEquals(Duration.ofSeconds(61), Deadlines.ofJoin(timed.spec(), timed));
            assertEquals(Duration.ofSeconds(120), Deadlines.ofJoin(set.spec(), set));
        }
    }

    @Test
    void settingsOfTheProcessApplyUnlessOptionsSetThem() {
        System.setProperty("ferro.segment", "64KiB");
        System.setProperty("ferro.links", "tcp");
        System.setProperty("ferro.rank", "2");
        System.setProperty("ferro.rendezvous", "tcp://10.0.0.9:1");
        try (SystemContext context =
                SystemContext.of(RANK.setting("FERRO_LINKS", "auto").storeAt("[::1]:29500"))) {
            assertEquals(64 << 10, Settings.SEGMENT.of(context));
            assertEquals("auto", Settings.LINKS.of(context), "an option given by its variable loses to the property");
            assertEquals(1, context.spec().rank());
            assertEquals("tcp://[::1]:29500", Settings.RENDEZVOUS.of(context));
        }
    }

    @Test
    void variablesOfAnotherRankAreHiddenFromARankByOptions() {
        for (String name : List.of("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "FERRO_RANK")) {
            assertTrue(RANK.hides(name, true), name);
            assertFalse(JoinOptions.ofProcess().hides(name, true), name);
        }
        assertTrue(RANK.hides("OMPI_COMM_WORLD_RANK", false));
        assertFalse(RANK.hides("FERRO_LINKS", true));
        assertFalse(RANK.hides("FERRO_TIEMOUT", false), "nobody warns of a misspelled variable");
        assertFalse(RANK.hides("MASTER_ADDR", true));
        assertTrue(RANK.storeAt("h:1").hides("MASTER_ADDR", true));
        assertTrue(RANK.serveStore("127.0.0.1", "0").hides("FERRO_STORE_SERVED", true));
        assertTrue(RANK.store(new MapStore()).hides("MASTER_PORT", true));
    }

    @Test
    void aRankThatServesTheStoreBindsTheGivenPorts() {
        try (SystemContext context = SystemContext.of(RANK.storeAt("h:1").serveStore("::1", "29500-29599"))) {
            assertEquals("serve://[::1]", Settings.RENDEZVOUS.of(context));
            assertEquals("29500-29599", Settings.TCP_PORT.of(context).toString());
            assertFalse(Settings.STORE_SERVED.of(context));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host_with_underscore", "3f2a9b81c0de", "node.0a"})
    void aStoreHostMayHaveAnyNameThatAResolverAccepts(String host) {
        try (SystemContext context = SystemContext.of(RANK.storeAt(host + ":29500"))) {
            assertEquals("tcp://" + host + ":29500", Settings.RENDEZVOUS.of(context));
        }
        try (SystemContext context = SystemContext.of(RANK.serveStore(host, "0"))) {
            assertEquals("serve://" + host, Settings.RENDEZVOUS.of(context));
        }
    }

    @Test
    void aStoreByAddressReplacesTheServedStoreAndItsPorts() {
        JoinOptions serving = RANK.serveStore("127.0.0.1", "29500");
        try (SystemContext context = SystemContext.of(serving.storeAt("h:1"))) {
            assertEquals("0", Settings.TCP_PORT.of(context).toString());
        }
    }

    @Test
    void optionsReplaceTheLauncherOfAClusterAndAreNotFerroRun() {
        Map<String, String> mpirun = Map.of(
                "OMPI_COMM_WORLD_RANK", "2",
                "OMPI_COMM_WORLD_SIZE", "8",
                "OMPI_COMM_WORLD_LOCAL_RANK", "2",
                "OMPI_COMM_WORLD_LOCAL_SIZE", "8");
        ContextSettings settings =
                ContextSettings.of(JoinOptions.ofProcess().local(1, 4).storeAt("h:1"), mpirun);

        assertEquals(Optional.of("2"), settings.find("RANK"));
        assertEquals(Optional.of("1"), settings.find("LOCAL_RANK"));
        assertEquals(Optional.of("4"), settings.find("LOCAL_WORLD_SIZE"));
        assertEquals(Optional.of("1"), settings.find("FERRO_STORE_SERVED"));
        assertFalse(settings.variables().containsKey("FERRO_STORE_SERVED"), "what ferro run sets");
    }

    @Test
    void aGivenStoreIsThatOfTheContext() {
        MapStore store = new MapStore();
        try (SystemContext context = SystemContext.of(RANK.storeAt("h:1").store(store))) {
            assertEquals(store, context.store());
            assertEquals(Optional.empty(), context.setting(Settings.STORE_SERVED.name()));
        }
    }

    @Test
    void theSecretIsCopiedAndNeverPrinted() {
        byte[] secret = "0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        JoinOptions options = RANK.secret(secret);
        secret[0] = 'x';
        try (SystemContext context = SystemContext.of(options)) {
            assertEquals('0', context.secret().orElseThrow()[0]);
            context.secret().orElseThrow()[0] = 'y';
            assertEquals('0', context.secret().orElseThrow()[0]);
        }
        assertFalse(options.toString().contains("0123456789"), options.toString());
    }

    @Test
    void optionsAreImmutable() {
        JoinOptions first = JoinOptions.of(0, 2);
        String before = first.toString();
        first.group("g").local(0, 1).cores(1).job("j", 0).storeAt("h:1").settings(Map.of("ferro.links", "tcp"));
        assertEquals(before, first.toString());
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                mistake("there is no rank 3 of world size 3: ranks go from 0", () -> JoinOptions.of(3, 3)),
                mistake("there is no rank -1 of world size 3", () -> JoinOptions.of(-1, 3)),
                mistake("there is no rank 0 of world size 0", () -> JoinOptions.of(0, 0)),
                mistake("the name of a group cannot be blank, found \" \"", () -> RANK.group(" ")),
                mistake("half of a surrogate pair, U+D83D, as character 2", () -> RANK.group("g\uD83D")),
                mistake("half of a surrogate pair, U+DE00, as character 2", () -> RANK.job("j\uDE00", 1)),
                mistake("cannot be served at \"0.0.0.0\"", () -> RANK.serveStore("0.0.0.0", "0")),
                mistake("there is no rank 2 of 2 ranks on a host", () -> RANK.local(2, 2)),
                mistake("share at least 1 core, found 0", () -> RANK.cores(0)),
                mistake("generation of 0 or more, found \"j\" and -1", () -> RANK.job("j", -1)),
                mistake("FERRO_JOB_ID=" + "j".repeat(63) + ".1: need", () -> RANK.job("j".repeat(63), 1)),
                mistake("cannot be at \"10.0.0.1\": need HOST:PORT", () -> RANK.storeAt("10.0.0.1")),
                mistake("cannot be at \"10.0.0.1:0\"", () -> RANK.storeAt("10.0.0.1:0")),
                mistake("cannot be at \"10.0.0.1:65536\"", () -> RANK.storeAt("10.0.0.1:65536")),
                mistake("cannot be at \"tcp://h:1\"", () -> RANK.storeAt("tcp://h:1")),
                mistake("cannot be served at \"h:1\"", () -> RANK.serveStore("h:1", "0")),
                mistake("cannot be served at \"\"", () -> RANK.serveStore("", "0")),
                mistake("ferro.tcp.port=20-10", () -> RANK.serveStore("127.0.0.1", "20-10")),
                mistake("need a secret of at least 1 byte, found 0", () -> RANK.secret(new byte[0])),
                mistake("at least 1 ms, found PT0S", () -> RANK.timeout(Duration.ZERO)),
                mistake("at least 1 ms, found PT-1S", () -> RANK.joinTimeout(Duration.ofSeconds(-1))),
                mistake("ferro.lniks is no setting of ferro", () -> RANK.setting("ferro.lniks", "tcp")),
                mistake("ferro.links=udp: need auto", () -> RANK.setting("ferro.links", "udp")),
                mistake("call local(rank, size)", () -> RANK.setting("LOCAL_RANK", "0")),
                mistake("call storeAt(endpoint)", () -> RANK.setting("ferro.rendezvous", "env://")),
                mistake("call of(rank, worldSize)", () -> RANK.setting("FERRO_RANK", "0")));
    }

    private static Arguments mistake(String text, Executable call) {
        return Arguments.of(text, call);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void everyWrongOptionHasItsError(String text, Executable call) {
        String message = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(message.contains(text), message);
    }

    @Test
    void aTimeoutOfMoreThanACenturyIsUnlimited() {
        try (SystemContext context = SystemContext.of(RANK.timeout(Duration.ofSeconds(Long.MAX_VALUE)))) {
            assertTrue(context.spec().timeout().compareTo(Duration.ofDays(36_525)) > 0);
        }
    }
}
