import AsyncHTTPClient
import Delivery
import Domain
import Encoding
import Foundation

/// Checks of settings and policies.
extension Examination {
    /// Whether other machines can reach the service, directly or through a proxy.
    static func isReached(_ settings: Settings) -> Bool {
        !settings.isLoopbackOnly
            || [settings.baseURL, settings.clientURL].compactMap(\.self).contains { WebAddress($0)?.isLoopback != true }
    }

    /// Defects of the settings, alone and together with the policies.
    static func findings(_ settings: Settings, _ policy: Policy) -> [Finding] {
        var found: [Finding] = []
        do {
            try settings.requireServable()
            try settings.requireServable(policy)
        } catch {
            found.append(Finding(.configuration, sentence: error.sentence))
        }
        guard isReached(settings) else { return found }
        if policy.certification.gate == .open {
            found.append(
                Finding(
                    .gate, "every caller of the public listener gets a certificate",
                    "set gate to provider, captcha or attested in certification.yaml"))
        }
        if settings.realm == "localhost" {
            found.append(
                Finding(
                    .realm, "the realm is localhost, the default of development", "set --realm to your own name"))
        }
        for (name, url) in [("--base-url", settings.baseURL), ("--client-url", settings.clientURL)] {
            guard let url, WebAddress(url)?.isLoopback == true else { continue }
            found.append(
                Finding(
                    .urls, "\(name) is \(url), which devices cannot reach", "set it to the listener's external URL")
            )
        }
        if !settings.limits { found.append(Finding(.limits, "rate limits are off", "start without --limits off")) }
        if settings.allowsLoopbackURLs {
            found.append(
                Finding(
                    .limits, "providers may name URLs on this machine, and so reach its local services",
                    "start without --loopback-urls"))
        }
        if policy.delivery.senders.contains(where: { $0.kind == "file" }) {
            found.append(
                Finding(
                    .senders, "codes are written to a file and sent to no phone",
                    "add one of \(SenderKind.namesForPhones) to senders in delivery.yaml"))
        }
        return found
    }

    /// Checks the senders and the issuer's service of the policies: their secrets, their formats and the text.
    static func senders(_ settings: Settings, _ policy: Policy) -> [Finding] {
        let rules = policy.delivery
        @Sendable func secret(_ file: String) throws -> String {
            try KeyFile(path: "\(settings.keys)/\(file)", isPrivate: true).read()
        }
        func refusal(_ body: () throws -> Void) -> Finding? {
            do {
                try body()
                return nil
            } catch let error as DeliveryError {
                return Finding(.senders, sentence: error.description)
            } catch let failure as CommandFailure {
                return Finding(.senders, sentence: failure.sentence)
            } catch {
                return Finding(.senders, ErrorWords.of(error), "check delivery.yaml and cards.yaml")
            }
        }
        let factory = SenderFactory(
            rules, secret: secret, environment: ProcessInfo.processInfo.environment, texts: settings.texts,
            // The file sender has its own finding.
            isLoopbackOnly: true, http: .shared, now: { Date() })
        return [
            refusal { _ = try factory.make(rules.senders) },
            refusal { _ = try VerificationText(rules, realm: settings.realm, digits: policy.phones.digits) },
            refusal { _ = try IssuerCheck(policy.cards, secret: secret, http: .shared, now: { Date() }) },
            refusal {
                // A captcha also gives a text precedence if certification is open.
                let certification = policy.certification
                guard certification.requiresCaptcha || !certification.captchaURL.isEmpty else { return }
                _ = try KeyFile(path: certification.captchaSecretFile, isPrivate: true).read()
            },
        ].compactMap(\.self)
    }
}
