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
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** What the build lists as the parts of a release (CycloneDX, profile sbom), beside what the modules depend on. */
class BillOfMaterialsTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path LIST = CHECKOUT.resolve("target/bom.json");
    private static final String OWN = "io.ferro";

    private List<JsonObject> listed;

    @BeforeEach
    void read() throws IOException {
        assumeTrue(Files.exists(LIST), "no target/bom.json: mvn -B package -Psbom -DskipTests makes it");
        listed = new ArrayList<>();
        JsonObject list = JsonParser.parseString(Files.readString(LIST)).getAsJsonObject();
        assertEquals("CycloneDX", list.get("bomFormat").getAsString());
        list.getAsJsonArray("components").forEach(one -> listed.add(one.getAsJsonObject()));
    }

    @Test
    void whatModulesNeedAtRunTimeIsListedInTheVersionThatRuns() throws Exception {
        String path = LauncherRun.classPath();
        List<String> missing = new ArrayList<>();
        Set<String> needed = needed();
        for (String name : needed) {
            boolean found = listed.stream()
                    .filter(one -> name.equals(text(one, "group") + ":" + text(one, "name")))
                    .anyMatch(one -> path.contains("/" + text(one, "name") + "-" + text(one, "version")));
            if (!found) {
                missing.add(name);
            }
        }

        assertEquals(List.of(), missing);
        assertTrue(needed.size() > 8, needed::toString);
    }

    @Test
    void eachPartOfOthersHasAFixedVersionALicenceAndAHash() {
        List<String> incomplete = new ArrayList<>();
        for (JsonObject one : listed) {
            if (text(one, "group").equals(OWN)) {
                continue;
            }
            String version = text(one, "version");
            boolean isFixed = version.matches("[0-9][^\\[(,$]*") && !version.endsWith("-SNAPSHOT");
            if (!isFixed || !hasLicence(one) || !hasHash(one)) {
                incomplete.add(one.toString());
            }
        }

        assertEquals(List.of(), incomplete);
    }

    private static boolean hasLicence(JsonObject part) {
        for (JsonElement each : array(part, "licenses")) {
            JsonObject choice = each.getAsJsonObject();
            JsonObject licence = choice.has("license") ? choice.getAsJsonObject("license") : new JsonObject();
            if (!(text(choice, "expression") + text(licence, "id") + text(licence, "name")).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasHash(JsonObject part) {
        for (JsonElement each : array(part, "hashes")) {
            JsonObject hash = each.getAsJsonObject();
            if (text(hash, "alg").equals("SHA-256") && text(hash, "content").matches("[0-9a-f]{64}")) {
                return true;
            }
        }
        return false;
    }

    private static JsonArray array(JsonObject part, String name) {
        return part.has(name) ? part.getAsJsonArray(name) : new JsonArray();
    }

    private static String text(JsonObject part, String name) {
        return part.has(name) ? part.get(name).getAsString() : "";
    }

    /** Returns what published modules name in their pom, but for tests. */
    private static Set<String> needed() throws Exception {
        Set<String> names = new TreeSet<>();
        for (Element module : children(only(pom(CHECKOUT), "modules"), "module")) {
            Element pom = pom(CHECKOUT.resolve(module.getTextContent()));
            boolean isKept =
                    children(only(pom, "properties"), "maven.deploy.skip").isEmpty();
            for (Element each : isKept ? children(only(pom, "dependencies"), "dependency") : List.<Element>of()) {
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
