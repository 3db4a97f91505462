# frozen_string_literal: true

# Loaded into Puppet by RUBYOPT: reports each resource when Puppet is done with it.

# What Puppet runs must not differ from what it runs without saltern.
%w[RUBYOPT RUBYLIB].each do |name|
  before = ENV.delete("SALTERN_#{name}")
  before.nil? ? ENV.delete(name) : ENV[name] = before
end

require_relative "saltern_report"
require "puppet"
require "puppet/transaction"
require "puppet/transaction/event_manager"
require "puppet/transaction/report"

module SalternPuppet
  HIDDEN = %w[Whit Class Stage Component Schedule Filebucket].freeze # they do nothing themselves
  SHOWN = %i[notice warning err alert emerg crit].freeze
  MOST = 50 # messages of one resource: the first ones, and the last
  FIRST = 10

  class << self
    attr_accessor :heard, :kept_back # of the resource at work: log messages, refreshes that noop kept back
  end

  # One resource after the other; those that Puppet never comes to are reported at the end.
  module Transaction
    def evaluate(&block)
      return super unless catalog.host_config?

      @saltern_reported = {}
      refs = catalog.resources.map(&:ref).reject { |ref| SalternPuppet.hidden?(ref) }
      SalternReport.report("plan", resources: refs, noop: Puppet[:noop])
      begin
        super
      ensure
        saltern_rest
        SalternReport.report("end", completed: report.transaction_completed)
      end
    end

    def eval_resource(resource, *more)
      return super if @saltern_reported.nil? || SalternPuppet.hidden?(resource.ref)

      SalternReport.report("begin", resource: resource.ref)
      SalternPuppet.heard = []
      SalternPuppet.kept_back = []
      begin
        super
      ensure
        saltern_report(resource.ref, SalternPuppet.heard, SalternPuppet.kept_back)
        SalternPuppet.heard = SalternPuppet.kept_back = nil
      end
    end

    private

    def saltern_rest
      report.resource_statuses.each_key do |ref|
        saltern_report(ref, [], [], late: true) unless @saltern_reported[ref] || SalternPuppet.hidden?(ref)
      end
    end

    def saltern_report(ref, logs, kept_back, late: false)
      status = report.resource_statuses[ref]
      return if status.nil?

      @saltern_reported[ref] = true
      told = SalternPuppet.status(status)
      SalternReport.report("resource", late: late, logs: logs, **told, events: told[:events] + kept_back)
    end
  end

  # What Puppet logs while it is at a resource belongs to that resource.
  module Report
    def <<(message)
      if SalternPuppet.heard && SHOWN.include?(message.level)
        SalternPuppet.heard << { level: message.level.to_s, message: SalternReport.text(message.message) }
        SalternPuppet.heard.delete_at(FIRST) if SalternPuppet.heard.size > MOST
      end
      super
    end
  end

  # A refresh that noop keeps back is in no status: Puppet only passes it on.
  module EventManager
    def queue_events(resource, events)
      if SalternPuppet.kept_back && events.any? { |event| event.name == :noop_restart }
        message = SalternPuppet.heard.last&.fetch(:message)
        SalternPuppet.kept_back << { property: nil, name: "refresh", status: "noop", message: message }
      end
      super
    end
  end

  module_function

  def hidden?(ref)
    HIDDEN.include?(ref[/\A[^\[]+/])
  end

  def status(status)
    {
      resource: status.resource, type: status.resource_type, title: status.title,
      file: status.file, line: status.line, path: status.containment_path,
      skipped: status.skipped, failed: status.failed, restart_failed: status.failed_to_restart,
      restarted: status.restarted, changed: status.changed, seconds: status.evaluation_time,
      started: status.time.to_f, blocked_by: Array(status.failed_dependencies).map(&:to_s),
      corrective: status.corrective_change, events: status.events.map { |event| event(event) }
    }
  end

  def event(event)
    {
      property: event.property, name: event.name, status: event.status, message: event.message,
      old: event.previous_value, new: event.desired_value, redacted: event.redacted
    }
  end
end

Puppet::Transaction.prepend(SalternPuppet::Transaction)
Puppet::Transaction::Report.prepend(SalternPuppet::Report)
Puppet::Transaction::EventManager.prepend(SalternPuppet::EventManager)
