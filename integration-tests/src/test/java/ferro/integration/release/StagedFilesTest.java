package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

@Tag("long")
class StagedFilesTest {
    private static final String BOM = "ferro-bom";
    private static final Map<String, String> CHECKSUMS =
            Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512");
    private static final List<String> NEEDED_IN_POMS = List.of(
            "name",
            "description",
            "url",
            "licenses/license/url",
            "developers/developer/name",
            "scm/connection",
            "scm/url");
    private static final XPath XPATH = XPathFactory.newInstance().newXPath();

    private Staging staging;

    @BeforeEach
    void findStaging() {
        staging = Staging.ofProperty();
    }

    @Test
    void theBomNamesTheOtherStagedArtifacts() throws Exception {
        Document bom = pom(BOM);
        Set<String> managed =
                new TreeSet<>(texts(bom, "/project/dependencyManagement/dependencies/dependency/artifactId"));
        Set<String> others = new TreeSet<>(staging.artifacts());
        assertTrue(others.remove(BOM), others::toString);

        assertEquals(managed, others, "the BOM, and what is staged beside it");
    }

    @Test
    void everyJarComesWithSourcesJavadocLicenceAndNotice() throws Exception {
        for (String artifact : jars()) {
            for (String rest : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
                assertTrue(
                        entries(artifact, rest).containsAll(Set.of("META-INF/LICENSE", "META-INF/NOTICE")),
                        artifact + rest);
            }
            assertTrue(entries(artifact, "-javadoc.jar").contains("index.html"), artifact);
        }
    }

    @Test
    void everyFileHasFourChecksums() throws Exception {
        for (Path file : staging.published()) {
            for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
                byte[] hash = MessageDigest.getInstance(checksum.getValue()).digest(Files.readAllBytes(file));
                assertEquals(
                        HexFormat.of().formatHex(hash),
                        Files.readString(Path.of(file + "." + checksum.getKey()))
                                .strip(),
                        file + " " + checksum);
            }
        }
    }

    @Test
    void everyPomHasAllRequiredElements() throws Exception {
        for (String artifact : staging.artifacts()) {
            Document pom = pom(artifact);
            for (String needed : NEEDED_IN_POMS) {
                List<String> found = texts(pom, "/project/" + needed);
                assertTrue(!found.isEmpty() && !found.get(0).isEmpty(), artifact + " has no " + needed);
            }
            assertEquals(List.of(), texts(pom, "/project/parent"), artifact);
            assertEquals(List.of(), texts(pom, "/project//*[contains(text(), '${')]"), artifact);
            assertEquals(List.of(), texts(pom, "/project//*[contains(text(), '-SNAPSHOT')]"), artifact);
        }
    }

    @Test
    void everyRequiredFerroArtifactIsStaged() throws Exception {
        String needed =
                "/project/dependencies/dependency[groupId='" + Checkout.group() + "' and not(scope='test')]/artifactId";
        for (String artifact : staging.artifacts()) {
            Set<String> missing = new TreeSet<>(texts(pom(artifact), needed));
            missing.removeAll(staging.artifacts());
            assertEquals(Set.of(), missing, artifact);
        }
    }

    @Test
    void everyJarHasABillOfMaterials() throws Exception {
        for (String artifact : jars()) {
            assertTrue(parts(artifact).contains("\"bomFormat\" : \"CycloneDX\""), artifact);
        }
        for (String part : List.of("ferro-spi", "ferro-collectives", "ferro-backend-tcp-shaded", "ferro-backend-shm")) {
            assertTrue(parts("ferro").contains("\"name\" : \"" + part + "\""), () -> "no " + part);
        }
        assertTrue(parts("ferro-backend-tcp-shaded").contains("\"name\" : \"netty-transport\""));
    }

    private String parts(String artifact) throws IOException {
        return Files.readString(staging.file(artifact, "-cyclonedx.json"));
    }

    private List<String> jars() throws IOException {
        List<String> jars = new ArrayList<>(staging.artifacts());
        jars.remove(BOM);
        assertTrue(jars.contains("ferro"), jars::toString);
        return jars;
    }

    private Set<String> entries(String artifact, String rest) throws IOException {
        Set<String> names = new TreeSet<>();
        try (JarFile jar = new JarFile(staging.file(artifact, rest).toFile())) {
            jar.stream().forEach(entry -> names.add(entry.getName()));
        }
        return names;
    }

    private Document pom(String artifact) throws Exception {
        return DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(staging.file(artifact, ".pom").toFile());
    }

    private static List<String> texts(Document pom, String path) throws Exception {
        NodeList nodes = (NodeList) XPATH.evaluate(path, pom, XPathConstants.NODESET);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add(nodes.item(i).getTextContent().strip());
        }
        return texts;
    }
}
