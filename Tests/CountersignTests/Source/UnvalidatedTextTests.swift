import Fixtures
import Testing

/// Swift compares text by canonical equivalence, at a cost that grows with the square of a run of combining marks. What runs
/// before a request is validated compares bytes.
@Suite("Text that is not validated yet")
struct UnvalidatedTextTests {
    /// Comparisons of text: by operator with a literal, by prefix, by search, by a case of a literal.
    private static var comparisons: [Regex<Substring>] {
        [
            /[=!]= "/, /" [=!]=/, /\.has(?:Prefix|Suffix)\(/, /\.contains\("/, /case "/, /\.lowercased\(\)/,
            /\.split\(separator: "/, /(?:path|contentType|value|name) == (?!nil)/,
        ]
    }

    /// How many lines of a file compare text that is short, validated or our own.
    private static let allowed: [String: Int] = [
        // Names of 4 and 17 bytes; codings, which come after the check of all fields.
        "MessageRules.swift": 4,
        // A line of at most 107 bytes.
        "ProxyLine.swift": 4,
        // A field of our own responses.
        "RequestBounds.swift": 1,
        // Fields of our own responses.
        "MessageRulesHandler.swift": 1, "FastPathHandler.swift": 1, "EndStreamHandler.swift": 2,
    ]

    /// Why the text of a file is safe to compare.
    private enum Reason {
        /// A member, field, row or path whose text is known to be stream-safe.
        case checked
        /// A file, option, device or policy of the operator.
        case operators
        /// The service made it: an id, a name, a row.
        case own
        /// It is ASCII or bounded before it is compared.
        case short
    }

    /// How many lines compare such text in the parts behind the routes.
    private static let reasons: [String: (lines: Int, reason: Reason)] = [
        "Authority/IssuerChain/TrustList.swift": (1, .checked),
        "Authority/Issuing/CertificateAuthority.swift": (1, .operators),
        "Authority/Issuing/CertificateProfile.swift": (1, .operators),
        "Authority/Issuing/ServerName.swift": (2, .operators),
        "Authority/Keys/KeyMatch.swift": (1, .operators),
        "Authority/Keys/PKCS11URI.swift": (7, .operators),
        "Authority/Keys/SigningKey.swift": (1, .operators),
        "Console/Actions/ActionFields.swift": (1, .own),
        "Console/Bans/BanForm.swift": (1, .checked),
        "Console/Lists/NodePages.swift": (1, .operators),
        "Console/Review/CardComparison.swift": (1, .checked),
        "Console/Review/ReviewCardPage.swift": (1, .own),
        "Console/Serving/RouteTable.swift": (1, .own),
        "Console/Start/StartPage.swift": (1, .own),
        "Console/Users/SearchPage.swift": (1, .own),
        "Console/Users/UserTimeline.swift": (1, .own),
        "Delivery/AmazonSNS/AmazonCredentials.swift": (4, .operators),
        "Delivery/AmazonSNS/PushNotification.swift": (1, .checked),
        "Delivery/AmazonSNS/SNSResponse.swift": (6, .checked),
        "Delivery/AmazonSNS/SNSSettings.swift": (1, .operators),
        "Delivery/AmazonSNS/SignatureVersion4.swift": (8, .own),
        "Delivery/AmazonSNS/SimpleNotificationService.swift": (5, .checked),
        "Delivery/HTTP/HostAddresses.swift": (1, .checked),
        "Delivery/HTTP/RetryAfter.swift": (2, .short),
        "Delivery/Issuers/KeySetReader.swift": (1, .checked),
        "Delivery/Senders/SenderFactory.swift": (1, .operators),
        "Delivery/Senders/SenderKind.swift": (1, .operators),
        "Delivery/Texts/TextLanguage.swift": (3, .operators),
        "Delivery/Texts/VerificationText.swift": (3, .operators),
        "Delivery/Twilio/TwilioMessages.swift": (1, .short),
        "Delivery/Webhook/WebhookSender.swift": (2, .operators),
        "Domain/Addresses/FindableAddress.swift": (1, .checked),
        "Domain/Audit/AuditStatement.swift": (1, .operators),
        "Domain/Audit/AuditSubject.swift": (1, .operators),
        "Domain/Authorizations/MessagingPermission.swift": (1, .checked),
        "Domain/Cards/CardFacts.swift": (1, .own),
        "Domain/Cards/Presentations/WalletOrigin.swift": (1, .operators),
        "Domain/Cards/Presentations/WalletQuery.swift": (1, .own),
        "Domain/Certificates/Attestation/AttestedApp.swift": (1, .operators),
        "Domain/Certificates/DeviceCertificate.swift": (2, .own),
        "Domain/Cluster/NodeFingerprints.swift": (1, .own),
        "Domain/Messaging/MessageBody.swift": (3, .checked),
        "Domain/Messaging/UserNotification.swift": (1, .own),
        "Domain/Outbox/DeliveryPolicy.swift": (2, .operators),
        "Domain/Outbox/OutboxTurns.swift": (1, .own),
        "Domain/Outbox/PushEndpoint.swift": (5, .checked),
        "Domain/Outbox/PushEndpoints.swift": (5, .operators),
        "Domain/Phone/LanguagePreferences.swift": (4, .short),
        "Domain/Phone/PhoneCode.swift": (1, .checked),
        "Domain/Phone/SendTarget.swift": (2, .own),
        "Domain/Policy/AddressNetwork.swift": (2, .operators),
        "Domain/Policy/CallPolicy.swift": (3, .operators),
        "Domain/Providers/IssuerReading.swift": (3, .short),
        "Domain/Providers/ProvenRequest.swift": (2, .checked),
        "Domain/Providers/Provider.swift": (3, .operators),
        "Domain/Providers/ProviderEvent.swift": (3, .checked),
        "Domain/Providers/ProviderIssuer.swift": (1, .operators),
        "Domain/Providers/ProviderScope.swift": (1, .checked),
        "Domain/Providers/Refusals/URLObjection.swift": (1, .checked),
        "Domain/Providers/ResourceURL.swift": (2, .checked),
        "Domain/Providers/StreamEvent.swift": (2, .own),
        "Domain/Providers/SubjectIdentifier.swift": (6, .checked),
        "Domain/Shared/ErrorWords.swift": (1, .own),
        "Domain/Shared/PlainText.swift": (7, .checked),
        "Domain/Shared/SenderNetworks.swift": (2, .own),
        "Domain/Users/VerifiedClaims.swift": (1, .own),
    ]

    @Test("is compared as bytes, in everything between a connection and its routes")
    func bytes() throws {
        let files = try ["API/FastPath", "API/Channels", "API/Connections", "API/Listeners"].flatMap {
            try SourceFile.all(below: "Sources/\($0)")
        }
        #expect(files.count > 20)
        for file in files {
            let lines = Self.comparing(file)
            #expect(lines.count == Self.allowed[file.name, default: 0], "\(file.name): \(lines)")
        }
    }

    @Test("is compared behind the routes only if something made it safe before")
    func reasons() throws {
        var found: [String: Int] = [:]
        for target in ["Authority", "Delivery", "Domain", "Console"] {
            for file in try SourceFile.all(of: target) {
                let (path, lines) = ("\(target)/\(file.path)", Self.comparing(file))
                if !lines.isEmpty { found[path] = lines.count }
                #expect(
                    lines.count == Self.reasons[path]?.lines ?? 0,
                    "\(path): compare bytes, or say why its text is safe: \(lines)")
            }
        }
        #expect(Set(found.keys) == Set(Self.reasons.keys), "The list names files that no longer compare text.")
    }

    /// The lines of a file that compare text.
    private static func comparing(_ file: SourceFile) -> [Substring] {
        file.text.split(separator: "\n").filter { line in
            !line.drop { $0 == " " }.hasPrefix("//") && comparisons.contains { line.contains($0) }
        }
    }

    @Test("is compared by code that is compiled for its type, not by one that looks the type up")
    func specialized() throws {
        let shared = try #require(try SourceFile.all(of: "Encoding").first { $0.name == "StreamSafeText.swift" })
        let declarations = shared.text.split(separator: "\n").filter { $0.contains(#/^ {4}(?:@\w+ )?(?:func|var) /#) }
        #expect(declarations.count == 2 && declarations.allSatisfy { $0.contains("@inlinable") })
        // A key path to such a property is read at run time.
        for file in try ["API/FastPath", "API/Channels"].flatMap({ try SourceFile.all(below: "Sources/\($0)") }) {
            #expect(!file.text.contains(/[(\[]\\\.\w/), "\(file.name) uses a key path: write a closure.")
        }
    }

    @Test("is compared as bytes where a member of JSON is looked for")
    func members() throws {
        let files = try ["Encoding", "API"].flatMap { try SourceFile.all(of: $0) }
        #expect(files.count > 100)
        for file in files { #expect(!file.text.contains("{ $0.name == name }"), "\(file.path)") }
    }
}
