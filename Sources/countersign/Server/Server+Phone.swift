import API
import Crypto
import Delivery
import Domain
import Foundation
import Logging
import Metrics
import Operations
import Traces

/// The loop that sends the outbox.
extension Server {
    /// The outbox loop, with the senders that the policies name at the start.
    ///
    /// - Throws: ``CommandFailure`` if a sender cannot be used, or the text has no room for a code.
    func outboxLoop() throws -> @Sendable () async -> Void {
        let rules = policy[\.delivery]
        let sender: Failover
        do {
            let factory = SenderFactory(
                rules,
                secret: { [settings] file in
                    try KeyFile(path: "\(settings.keys)/\(file)", isPrivate: true).read()
                },
                environment: ProcessInfo.processInfo.environment, texts: settings.texts,
                isLoopbackOnly: settings.isLoopbackOnly, http: deliveryHTTPClient, now: environment.now)
            // Without limits no text may cost money or reach a real phone.
            sender = try factory.make(settings.isDevelopment ? [SenderEntry(kind: "file")] : rules.senders)
            _ = try VerificationText(rules, realm: settings.realm, digits: policy[\.phones].digits)
        } catch let error as DeliveryError {
            throw CommandFailure(error.description)
        }
        let deliver = DeliverOutbox(
            service,
            writeText: { [policy, settings] parts in
                try? VerificationText(
                    policy[\.delivery], language: parts.language.flatMap { TextLanguage(tag: $0) }, app: parts.app,
                    realm: settings.realm, digits: parts.code.utf8.count
                )
                .body(code: parts.code)
            },
            events: NotifyProvider(
                service, key: keys.serviceKey, keyID: WebKey.identifier(of: keys.serviceKey.publicKey),
                send: { [policy, settings, tracer = collector?.tracer] event in
                    let transmitter = SecurityEventTransmitter(
                        policy[\.delivery], policy[\.webhooks], allowingLoopback: settings.allowsLoopbackURLs)
                    return await withTrace("deliver event", by: tracer) {
                        await transmitter.send(
                            event.token, to: event.url, of: event.provider, authorization: event.authorization)
                    }
                }),
            leaseTime: max(
                30, rules.attemptTimeout * Double(rules.senders.count) + 10, policy[\.webhooks].attemptTimeout + 10),
            send: { [tracer = collector?.tracer] message, id in
                await withTrace("deliver message", by: tracer) { await sender.send(message, id: id.uuid) }
            },
            observe: { [logger] message in
                Counter(
                    label: "outbox_messages",
                    dimensions: [("kind", message.kind.rawValue), ("state", message.state.rawValue)]
                ).increment()
                Self.log(message, to: logger)
            },
            onRest: { [logger] provider in
                Counter(label: "webhook_rests").increment()
                logger.warning(
                    "a provider's webhook does not respond; deliveries are paused",
                    metadata: ["provider": "\(provider)"])
            })
        return { [outboxSignal, logger] in
            await deliver.run(outboxSignal) { error in
                logger.error("the outbox cannot be processed", metadata: ["cause": .string(ErrorWords.of(error))])
            }
        }
    }
}

extension Server {
    /// Writes a line for a try that failed, and for the last one. A reason has no personal data.
    static func log(_ message: OutboxMessage, to logger: Logger) {
        let (level, words): (Logger.Level, Logger.Message)
        switch message.state {
        case .waiting: (level, words) = (.warning, "a message could not be sent and is tried again")
        case .dead: (level, words) = (.error, "a message could not be sent and is given up")
        case .sent, .expired, .dropped: return
        }
        logger.log(
            level: level, words,
            metadata: [
                "kind": .string(message.kind.rawValue), "message_id": "\(message.id)",
                "try": .stringConvertible(message.tries),
                "cause": .string(message.reason ?? "unknown"),
            ])
    }
}

extension DevelopmentMode {
    /// Appends the reason for a withheld text to the file of texts; `countersign inbox` shows both.
    static func writing(to path: String, now: @escaping @Sendable () -> Date) -> DevelopmentMode {
        let file = TextFile(path: path, now: now)
        return DevelopmentMode { number, cause in file.note(withheld: cause.word, to: number) }
    }
}
