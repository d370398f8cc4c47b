package ferro.backend.tcp.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;

/** Shows one key and its certificates, whoever asks. */
final class OneKey extends X509ExtendedKeyManager {
    private static final String ALIAS = "ferro";

    private final PrivateKey key;
    private final X509Certificate[] chain;

    OneKey(PrivateKey key, X509Certificate[] chain) {
        this.key = key;
        this.chain = chain;
    }

    @Override
    public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
        return ALIAS;
    }

    @Override
    public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
        return type.equals(key.getAlgorithm()) ? ALIAS : null;
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
        return ALIAS;
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
        return chooseEngineServerAlias(type, issuers, null);
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
        return new String[] {ALIAS};
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
        return new String[] {ALIAS};
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return chain.clone();
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return key;
    }
}
