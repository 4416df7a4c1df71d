import Domain
import Foundation

/// Reads `Policies/*.yaml`. A missing file or key means the default. Unknown files and keys are refused, and all
/// defects are reported at once.
enum PolicyFiles {
    struct Reading {
        var policy = Policy()
        var defects: [PolicyDefect] = []
        /// The line of each value in a file, by `area/key`.
        var lines: [String: Int] = [:]
    }

    /// Reads a directory's policies for use.
    ///
    /// - Parameter required: whether a missing directory is refused; if not, it means all defaults.
    /// - Throws: ``CommandFailure`` with one line for each defect.
    static func load(directory: String, required: Bool) throws(CommandFailure) -> Policy {
        let reading = read(directory: directory, required: required)
        guard reading.defects.isEmpty else {
            throw CommandFailure(reading.defects.map(\.description).joined(separator: "\n"))
        }
        return reading.policy
    }

    /// Reads all that is valid and collects the defects.
    static func read(directory: String, required: Bool) -> Reading {
        var reading = Reading()
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            if required || FileManager.default.fileExists(atPath: directory) {
                reading.defects = [
                    PolicyDefect(
                        file: directory, line: nil, key: nil, expected: "a directory that can be read is expected")
                ]
            }
            return reading
        }
        let areas = PolicyArea.all
        for name in names.sorted() where isYAML(name) {
            let path = directory + "/" + name
            if let area = areas.first(where: { $0.name + ".yaml" == name }) {
                reading.take(area, from: path)
            } else {
                let known = areas.map(\.name).joined(separator: ", ")
                reading.defects.append(
                    PolicyDefect(
                        file: path, line: nil, key: nil, expected: "one of \(known), with .yaml, is expected as name"))
            }
        }
        reading.checkTogether(directory)
        return reading
    }

    private static func isYAML(_ name: String) -> Bool {
        let name = name.lowercased()
        return !name.hasPrefix(".") && (name.hasSuffix(".yaml") || name.hasSuffix(".yml"))
    }
}

extension PolicyFiles.Reading {
    fileprivate mutating func take(_ area: PolicyArea, from path: String) {
        let (entries, unreadable) = PolicyDocument.read(path: path)
        defects += unreadable
        for entry in entries {
            guard let field = area.fields.first(where: { $0.key == entry.key }) else {
                defects.append(
                    PolicyDefect(
                        file: path, line: entry.line, key: entry.key,
                        expected: UnknownKey.sentence(entry.key, known: area.fields.map(\.key)), isUnknownKey: true))
                continue
            }
            let faults = field.set(entry.value, &policy)
            if faults.isEmpty { lines["\(area.name)/\(entry.key)"] = entry.line }
            defects += faults.map { fault in
                PolicyDefect(
                    file: path, line: fault.line ?? entry.line, key: entry.key + fault.path, expected: fault.expected,
                    isUnknownKey: fault.isUnknownKey)
            }
        }
    }

    /// Reports values that are valid alone but contradict each other. The defaults do not, so one of the values is in a
    /// file.
    fileprivate mutating func checkTogether(_ directory: String) {
        let sends = policy.phones
        let delivery = policy.delivery
        let rules: [(wrong: Bool, area: String, key: String, expected: String)] = [
            (
                policy.certification.requiresCaptcha
                    && (policy.certification.captchaURL.isEmpty || policy.certification.captchaSecretFile.isEmpty),
                "certification", "gate", "captcha_url and captcha_secret_file are expected with captcha"
            ),
            (
                !policy.certification.captchaURL.isEmpty && policy.certification.captchaSecretFile.isEmpty
                    && !policy.certification.requiresCaptcha,
                "certification", "captcha_url", "captcha_secret_file is expected with it"
            ),
            (
                policy.bans.maximumStaleness < 2 * policy.bans.changePollInterval,
                "bans", "maximum_staleness", "at least twice change_poll_interval is expected"
            ),
            (
                sends.sendsPerDayPerNumber < sends.sendsPerHourPerNumber,
                "phones", "sends_per_day_per_number", "at least sends_per_hour_per_number is expected"
            ),
            (
                delivery.connectTimeout > delivery.attemptTimeout,
                "delivery", "connect_timeout", "at most attempt_timeout is expected"
            ),
        ]
        for rule in rules where rule.wrong {
            defects.append(
                PolicyDefect(
                    file: "\(directory)/\(rule.area).yaml", line: lines["\(rule.area)/\(rule.key)"], key: rule.key,
                    expected: rule.expected))
        }
    }
}
