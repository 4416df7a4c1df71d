"""The stages of `make test` and the parts of `make soak`. Every test belongs to one stage, or to the soak alone."""

import dataclasses
import pathlib
import re

LOGS = pathlib.Path(__file__).resolve().parent.parent / ".build" / "tests"


@dataclasses.dataclass
class Stage:
    """Tests that run in one process: those that `filter` matches and `skip` does not."""

    name: str
    filter: str = ""
    skip: str = ""
    environment: dict = dataclasses.field(default_factory=dict)
    # A stage that never ends is ended after this many seconds: twice what the longest takes on a busy machine.
    limit: int = 1200
    # Only for tests that start nothing and measure nothing.
    parallel: bool = False

    def runs(self, test):
        return bool(re.search(self.filter, test)) and not (self.skip and re.search(self.skip, test))

    @property
    def log(self):
        return LOGS / f"{self.name}.log"

    @property
    def events(self):
        return LOGS / f"{self.name}.jsonl"


def suites(*names):
    """Matches the tests of these suites of the service."""
    return rf"CountersignTests\.({'|'.join(names)})/"


# Long tests, which only the soak runs.
LONG = (
    "AndroidClientTests/both|"
    "ServiceTests/(description|kill)|DescriptionTests/(client|provider)|AuditLogTests/large|CardPopulationTests|CrowdTests|"
    "ForgedCardTests/honest|QuickStartTests/hello|CountersignTests[.]ModelTests|TourTests/(tour|sampleProvider)|"
    "ListenerTests/(hoard|smallHoard)|NodesTests/contract|FirstAppTests/(newFolder|branch)|"
    "StoreFaultTests/(kill|reset)|CutNodeTests|CountersignTests[.]VersionTests|DatabaseClusterTests|BanTests/crash|"
    "SendSimulationTests/day|SendAttackTests/day|ConsoleBrowserTests/whole"
)
FAULTS = suites("StoreFaultTests", "CutNodeTests")
UPGRADES = suites("VersionTests", "DatabaseClusterTests")
CLUSTER = "NodesTests|MoveTests|CertificateRenewalTests|RequestFuzzTests|KillTests|MessagingWalkTests"
CLIENTS = suites(
    "QuickStartTests", "FirstAppTests", "TourTests", "SampleTests", "OAuthTests", "OpenIDTests", "CollectorTests",
    "ProtocolDocumentTests", "PackageTests", "SharedSignalsTests", "EventTests", "CallServiceTests", "ContactsTests")
CONNECTIONS = suites("ListenerTests", "HeraldServiceTests", "ServiceTests", "FaultTests", "BanTests", "CertificationTests",
    "ConsoleServiceTests", "ConsoleBrowserTests")
ANDROID = r"CountersignClientTests\.AndroidClientTests/"
STORES = "RepositoriesTests|DatabaseTests"
SERVICE = "CountersignTests"
LAYERS = f"{SERVICE}|CountersignClientTests|OperationsTests|APITests"
ON_POSTGRESQL = {"COUNTERSIGN_TEST_STORE": "postgresql"}
SOAKING = {"COUNTERSIGN_SOAK": "1"}
# Those with the most work and the longest waits come first, so that none is left running alone at the end.
STAGES = [
    Stage("service", SERVICE, f"{CLIENTS}|{CONNECTIONS}|{FAULTS}|{CLUSTER}|{LONG}"),
    Stage("connections", CONNECTIONS, LONG),
    Stage("clients", CLIENTS, LONG),
    Stage("android", ANDROID, LONG),
    Stage("client", "CountersignClientTests", f"{CLUSTER}|{ANDROID}"),
    Stage("cluster", CLUSTER, LONG),
    Stage("operations", "OperationsTests", SERVICE),
    Stage("faults", FAULTS, LONG),
    Stage("units", skip=f"{LAYERS}|{STORES}|{LONG}"),
    Stage("api", "APITests"),
    Stage("stores", STORES),
    # Tests with such an argument run on every engine anyway.
    Stage("postgresql", "RepositoriesTests", "(kind|way):", environment=ON_POSTGRESQL),
]
# Each part takes at most eight minutes on an idle machine.
SOAK = [
    Stage(
        "kills", "KillTests|ServiceTests/kill|BanTests/crash|MoveTests/killed",
        environment=SOAKING | {"COUNTERSIGN_KILLS": "30"}),
    Stage("storefaults", FAULTS, environment=SOAKING),
    Stage("availability", UPGRADES, environment=SOAKING),
    Stage("operations", "OperationsTests", f"{SERVICE}|(kind|way):", environment=SOAKING | ON_POSTGRESQL),
    Stage(
        "description", "ServiceTests/(description|machine)|NodesTests/contract|DescriptionTests|RequestFuzzTests",
        environment=SOAKING),
    Stage("postgresql18", "RepositoriesTests|DatabaseTests", environment={"COUNTERSIGN_TEST_STORE": "postgresql18"}),
    Stage(
        "memory", "RepositoriesTests|SendAttackTests/day", "kind:", environment={"COUNTERSIGN_TEST_STORE": "memory"}),
    Stage(
        "crowd",
        "CrowdTests|AuditLogTests/large|CardPopulationTests|ForgedCardTests|CardFuzzTests|FastPathEqualityTests|"
        "ListenerTests/(hoard|smallHoard)|CrashReportTests|MovedRevocationTests|PermissionRevocationTests|SendSimulationTests/day|"
        "PhoneNumberDifferentialTests|CopyStoreTests|CopiedServiceTests|PhoneCodeTests/evenness|FrameTests/mutations",
        environment=SOAKING),
    Stage("android", "AndroidClientTests/both", environment=SOAKING),
    Stage("wallets", "WalletPopulationTests", environment=SOAKING),
    Stage(
        "walletfuzz",
        "MobileDocumentFuzzTests|SelectiveDisclosureTests/flips|InflateTests/flips|MintedAttestationTests|WalletMutationTests",
        environment=SOAKING, parallel=True),
    Stage("attestfuzz", "AppAttestTests/flips|AndroidKeyTests/flips", environment=SOAKING, parallel=True),
    Stage("quickstarts", "QuickStartTests|TourTests|ConsoleBrowserTests/whole", environment=SOAKING),
    # It builds all libraries of the SDK.
    Stage("sdk", "FirstAppTests", limit=3600),
    Stage("model", "CountersignTests[.]ModelTests", environment=SOAKING),
]
