package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** What the build lists as the parts of a release (CycloneDX, profile sbom), beside what the modules depend on. */
class BillOfMaterialsTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path LIST = CHECKOUT.resolve("target/bom.json");
    private static final String OWN = "io.ferro";
    /** Modules name this many parts of others in their poms, or more. */
    private static final int LEAST_PARTS = 9;

    /** A list as the plugin writes it where it finds nothing. */
    private static final String EMPTY = "{\"bomFormat\":\"CycloneDX\",\"components\":[]}";

    @Test
    void theBillOfMaterialsListsEveryRuntimeDependencyInItsVersion() throws Exception {
        assertEquals(List.of(), missing(listed()));
    }

    @Test
    void everyForeignPartHasAFixedVersionALicenceAndAHash() throws Exception {
        assertEquals(List.of(), incomplete(listed()));
    }

    @Test
    void anEmptyBillOfMaterialsIsReported() throws Exception {
        List<JsonObject> none = parts(EMPTY);

        assertTrue(missing(none).contains("net.java.dev.jna:jna-jpms"), () -> "missing in an empty list");
        assertEquals(1, incomplete(none).size());
        assertTrue(incomplete(none).get(0).startsWith("0 parts of others"), () -> "of an empty list");
    }

    private static List<JsonObject> listed() throws IOException {
        assumeTrue(Files.exists(LIST), "no target/bom.json: mvn -B package -Psbom -DskipTests makes it");
        return parts(Files.readString(LIST));
    }

    private static List<JsonObject> parts(String text) {
        JsonObject list = JsonParser.parseString(text).getAsJsonObject();
        assertEquals("CycloneDX", list.get("bomFormat").getAsString());
        return objects(list, "components").toList();
    }

    /** Returns what modules need at run time that is not listed in the version of the class path. */
    private static List<String> missing(List<JsonObject> listed) throws Exception {
        String path = LauncherRun.classPath() + ProgramPaths.nettyOfFerro();
        List<String> missing = new ArrayList<>();
        Set<String> needed = needed();
        assertTrue(needed.size() >= LEAST_PARTS, needed::toString);
        for (String name : needed) {
            boolean found = listed.stream()
                    .filter(one -> name.equals(text(one, "group") + ":" + text(one, "name")))
                    .anyMatch(one -> path.contains("/" + text(one, "name") + "-" + text(one, "version")));
            if (!found) {
                missing.add(name);
            }
        }
        return missing;
    }

    /** Returns the parts of others that lack something, and how many parts there are if these are too few. */
    private static List<String> incomplete(List<JsonObject> listed) {
        List<String> incomplete = new ArrayList<>();
        List<JsonObject> parts =
                listed.stream().filter(one -> !text(one, "group").equals(OWN)).toList();
        if (parts.size() < LEAST_PARTS) {
            incomplete.add(parts.size() + " parts of others are listed, need at least " + LEAST_PARTS);
        }
        for (JsonObject one : parts) {
            String version = text(one, "version");
            boolean isFixed = version.matches("[0-9][^\\[(,$]*") && !version.endsWith("-SNAPSHOT");
            if (!isFixed || !hasLicence(one) || !hasHash(one)) {
                incomplete.add(one.toString());
            }
        }
        return incomplete;
    }

    private static boolean hasLicence(JsonObject part) {
        for (JsonObject choice : objects(part, "licenses").toList()) {
            JsonObject licence = choice.has("license") ? choice.getAsJsonObject("license") : new JsonObject();
            if (!(text(choice, "expression") + text(licence, "id") + text(licence, "name")).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasHash(JsonObject part) {
        return objects(part, "hashes")
                .filter(hash -> text(hash, "alg").equals("SHA-256"))
                .anyMatch(hash -> text(hash, "content").matches("[0-9a-f]{64}"));
    }

    private static Stream<JsonObject> objects(JsonObject part, String name) {
        JsonArray all = part.has(name) ? part.getAsJsonArray(name) : new JsonArray();
        return all.asList().stream().map(JsonElement::getAsJsonObject);
    }

    private static String text(JsonObject part, String name) {
        return part.has(name) ? part.get(name).getAsString() : "";
    }

    /** Returns what published modules name in their pom, but for tests. */
    private static Set<String> needed() throws Exception {
        Set<String> names = new TreeSet<>();
        for (Element module : children(only(pom(CHECKOUT), "modules"), "module")) {
            Element pom = pom(CHECKOUT.resolve(module.getTextContent()));
            boolean isPublished =
                    value(only(pom, "properties"), "maven.deploy.skip").equals("false");
            for (Element each : isPublished ? children(only(pom, "dependencies"), "dependency") : List.<Element>of()) {
                String scope = value(each, "scope");
                String group = value(each, "groupId");
                if (!group.equals(OWN) && (scope.isEmpty() || scope.equals("compile") || scope.equals("runtime"))) {
                    names.add(group + ":" + value(each, "artifactId"));
                }
            }
        }
        return names;
    }

    private static Element pom(Path folder) throws Exception {
        return DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(folder.resolve("pom.xml").toFile())
                .getDocumentElement();
    }

    private static Element only(Element parent, String name) {
        return children(parent, name).stream().findFirst().orElse(null);
    }

    private static String value(Element parent, String name) {
        Element found = only(parent, name);
        return found == null ? "" : found.getTextContent().strip();
    }

    private static List<Element> children(Element parent, String name) {
        List<Element> found = new ArrayList<>();
        for (Node node = parent == null ? null : parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element && element.getTagName().equals(name)) {
                found.add(element);
            }
        }
        return found;
    }
}
