package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two sides with certificates of a company, without sockets. */
class PemIdentityFilesTest {
    private static final String NAME = "spiffe://cluster/ns/lab/sa/train";
    private static final Authority OURS = new Authority("ours");

    @TempDir
    private Path folder;

    private static PemIdentityFiles files(Map<String, String> settings, String name) throws IOException {
        return files(settings, name, TlsProvider.JDK);
    }

    private static PemIdentityFiles files(Map<String, String> settings, String name, TlsProvider provider)
            throws IOException {
        return PemIdentityFiles.read(
                Path.of(settings.get("ferro.tls.certificate")),
                Path.of(settings.get("ferro.tls.key")),
                Path.of(settings.get("ferro.tls.trust")),
                name,
                provider);
    }

    private TlsIdentity rank(String who, X509Bundle leaf) throws IOException {
        return rank(who, leaf, TlsProvider.JDK);
    }

    private TlsIdentity rank(String who, X509Bundle leaf, TlsProvider provider) throws IOException {
        return files(OURS.settings(folder.resolve(who), leaf), NAME, provider).identity();
    }

    /** Fails as a handshake in which one side is refused, whichever side connects. */
    private static String refused(TlsIdentity judge, TlsIdentity other) {
        IOException one =
                assertThrows(IOException.class, () -> TlsPair.of(judge, other).shaken());
        IOException two =
                assertThrows(IOException.class, () -> TlsPair.of(other, judge).shaken());
        assertEquals(one.getMessage(), two.getMessage());
        return one.getMessage();
    }

    private static Stream<Named<UnaryOperator<CertificateBuilder>>> leaves() {
        return Stream.of(
                Named.of("P-256", CertificateBuilder::ecp256),
                Named.of("RSA of 2048 bits", CertificateBuilder::rsa2048),
                Named.of("for servers alone", leaf -> leaf.ecp256().addExtendedKeyUsageServerAuth()));
    }

    @ParameterizedTest
    @MethodSource("leaves")
    @DisplayName("a leaf below an authority that is not trusted itself is taken, and checked twice")
    void aLeafBelowAnIntermediateAuthorityIsAccepted(UnaryOperator<CertificateBuilder> kind) throws Exception {
        List<TlsProvider> there =
                TlsProvider.missingOpenSsl() == null ? List.of(TlsProvider.values()) : List.of(TlsProvider.JDK);
        X509Bundle connecting = OURS.leaf(NAME, kind);
        X509Bundle accepting = OURS.leaf(NAME, kind);
        for (TlsProvider one : there) {
            for (TlsProvider other : there) {
                TlsPair pair = TlsPair.of(rank("a", connecting, one), rank("b", accepting, other))
                        .shaken();

                assertEquals(2, pair.connecting.checks());
                assertEquals(2, pair.accepting.checks());
                byte[] bytes = {1, 2, 3};
                assertArrayEquals(bytes, TlsPair.carried(pair.connecting, pair.accepting, bytes));
            }
        }
    }

    @Test
    void aChainWithItsRootAndADirectlyTrustedLeafAreAccepted() throws Exception {
        X509Bundle leaf = OURS.leaf(NAME);
        Map<String, String> whole = OURS.settings(folder.resolve("whole"), leaf);
        Authority.write(
                folder.resolve("whole/chain.pem"),
                leaf.getCertificatePathPEM() + OURS.root().getCertificatePEM());
        TlsPair.of(files(whole, NAME).identity(), rank("a", OURS.leaf(NAME))).shaken();

        Map<String, String> alone = OURS.settings(folder.resolve("alone"), leaf);
        Authority.write(folder.resolve("alone/trust.pem"), leaf.getCertificatePEM());
        TlsIdentity itself = files(alone, NAME).identity();
        TlsPair.of(itself, itself).shaken();
    }

    @Test
    void aCertificateOfAnotherAuthorityIsRefusedDespiteItsAnnouncedKey() throws Exception {
        Authority theirs = new Authority("theirs");
        TlsIdentity other = files(theirs.settings(folder.resolve("b"), theirs.leaf(NAME)), NAME)
                .identity();
        String text = assertThrows(
                        IOException.class,
                        () -> TlsPair.of(rank("a", OURS.leaf(NAME)), other).shaken())
                .getMessage();
        assertTrue(text.contains(NAME) && text.contains("ferro.tls.trust"), text);
        text = refused(rank("a", OURS.leaf(NAME)), TlsIdentity.fresh("ferro://job/rank/1", TlsProvider.JDK));
        assertTrue(text.contains("[ferro://job/rank/1]") && text.contains("is not trusted"), text);
    }

    @Test
    void aKeyOfTheSameAuthorityThatWasNotAnnouncedIsRefused() throws Exception {
        TlsIdentity one = rank("a", OURS.leaf(NAME));
        TlsIdentity named = rank("b", OURS.leaf(NAME));
        TlsIdentity between = rank("c", OURS.leaf(NAME));
        TlsPair pair = new TlsPair(
                one.session(true, named.fingerprint(), true), between.session(false, one.fingerprint(), true));
        String text = assertThrows(IOException.class, pair::shaken).getMessage();
        assertTrue(text.contains("another process is between the two"), text);
    }

    @Test
    void aDifferentNameIsRefusedWithBothNames() throws Exception {
        String score = "spiffe://cluster/ns/lab/sa/score";
        TlsIdentity any = files(OURS.settings(folder.resolve("b"), OURS.leaf(score)), null)
                .identity();
        String text = refused(rank("a", OURS.leaf(NAME)), any);
        assertTrue(text.contains("[" + score + "]") && text.contains("need a name that matches " + NAME), text);
        TlsPair.of(any, any).shaken();
    }

    @Test
    void anExpiredLeafIsRefusedWithItsDates() throws Exception {
        X509Bundle old = OURS.expired(NAME);
        TlsIdentity late = rank("b", old);
        String until = old.getCertificate().getNotAfter().toInstant().toString();
        String text = refused(rank("a", OURS.leaf(NAME)), late);
        assertTrue(text.contains("to " + until), text);
        Map<String, String> alone = OURS.settings(folder.resolve("alone"), old);
        Authority.write(folder.resolve("alone/trust.pem"), old.getCertificatePEM());
        TlsPair trusted = new TlsPair(
                files(alone, NAME).identity().session(true, late.fingerprint(), true),
                late.session(false, late.fingerprint(), false));
        text = assertThrows(IOException.class, trusted::shaken).getMessage();
        assertTrue(text.contains("to " + until), "a leaf that is trusted itself has dates, too: " + text);
        text = assertThrows(IOException.class, late::checkDates).getMessage();
        assertTrue(text.contains(folder.resolve("b/chain.pem").toString()) && text.contains(until), text);
    }

    @Test
    void aStoreWithoutCheckedCertificatesNeedsItsAnnouncedKey() throws Exception {
        TlsIdentity rank = rank("a", OURS.leaf(NAME));
        TlsIdentity store = TlsIdentity.fresh("ferro://job/store", TlsProvider.JDK);
        new TlsPair(rank.session(true, store.fingerprint(), false), store.session(false, rank.fingerprint(), false))
                .shaken();
        TlsPair other = new TlsPair(
                rank.session(true, rank.fingerprint(), false), store.session(false, rank.fingerprint(), false));
        assertThrows(IOException.class, other::shaken);
    }

    @Test
    @DisplayName("files that were renewed serve new connections, and those of former connections go on")
    void renewedFilesServeNewConnections() throws Exception {
        PemIdentityFiles renewed = files(OURS.settings(folder.resolve("a"), OURS.leaf(NAME)), NAME);
        TlsIdentity other = rank("b", OURS.leaf(NAME));
        TlsIdentity before = renewed.identity();
        assertSame(before, renewed.identity());
        TlsPair open = TlsPair.of(before, other).shaken();
        TlsPair begun = TlsPair.of(before, other);

        X509Bundle fresh = OURS.leaf(NAME);
        OURS.settings(folder.resolve("a"), fresh);

        TlsIdentity after = renewed.identity();
        assertArrayEquals(TlsIdentity.sha256(fresh.getCertificate().getPublicKey()), after.fingerprint());
        TlsPair.of(after, other).shaken();
        begun.shaken();
        byte[] bytes = {4, 5, 6};
        assertArrayEquals(bytes, TlsPair.carried(open.connecting, open.accepting, bytes));
    }

    @Test
    @DisplayName("a renewal that is half done, or wrong, leaves what was there before")
    void aHalfFinishedRenewalKeepsTheOldIdentity() throws Exception {
        PemIdentityFiles renewed = files(OURS.settings(folder.resolve("a"), OURS.leaf(NAME)), NAME);
        TlsIdentity before = renewed.identity();
        X509Bundle fresh = OURS.leaf(NAME);

        Authority.write(folder.resolve("a/chain.pem"), fresh.getCertificatePathPEM());
        assertSame(before, renewed.identity(), "the key is still that of the former certificate");
        Authority.write(folder.resolve("a/key.pem"), fresh.getPrivateKeyPEM());
        TlsIdentity after = renewed.identity();
        assertNotSame(before, after);

        Authority.write(folder.resolve("a/trust.pem"), "");
        assertSame(after, renewed.identity(), "no authority is left");
        java.nio.file.Files.delete(folder.resolve("a/trust.pem"));
        assertSame(after, assertDoesNotThrow(renewed::identity));
    }
}
